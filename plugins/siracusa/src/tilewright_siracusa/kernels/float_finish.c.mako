<%doc>
Needs clip ("none", "low": only a lower limit, or "both").
</%doc>\
/* The fused activation; NaN stays NaN. */
TW_KERNEL float tw_xp_f32_finish_${clip}(float value, float low, float high)
{
% if clip == "none":
    (void)low;
    (void)high;
    return value;
% elif clip == "low":
    (void)high;
    return (value < low) ? low : value;
% else:
    return (value < low) ? low : ((value > high) ? high : value);
% endif
}
