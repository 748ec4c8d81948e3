% if short != "f32":
TW_KERNEL ${type} ${pair}(${type} one, ${type} other)
{
    return other ${">" if combine == "max" else "<"} one ? other : one;
}
% elif combine == "sum":
TW_KERNEL float ${pair}(float one, float other)
{
    return one + other;
}
% else:
TW_KERNEL float ${pair}(float one, float other)
{
    return other ${">" if combine == "max" else "<"} one || other != other ? other : one; /* NaN stays NaN */
}
% endif
