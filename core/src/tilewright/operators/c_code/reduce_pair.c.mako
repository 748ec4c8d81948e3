% if short != "f32" and combine in ("sum", "prod"):
TW_KERNEL ${type} ${pair}(${type} one, ${type} other)
{
    return (${type})((${wide})one ${"+" if combine == "sum" else "*"} (${wide})other); /* wraps */
}
% elif short != "f32":
TW_KERNEL ${type} ${pair}(${type} one, ${type} other)
{
    return other ${">" if combine == "max" else "<"} one ? other : one;
}
% elif combine in ("sum", "prod"):
TW_KERNEL float ${pair}(float one, float other)
{
    return one ${"+" if combine == "sum" else "*"} other;
}
% else:
TW_KERNEL float ${pair}(float one, float other)
{
    return other ${">" if combine == "max" else "<"} one || other != other ? other : one; /* NaN stays NaN */
}
% endif
