<%doc>
Needs type ("float", "double"), clip ("none", "low", "both").
</%doc>\
/* The fused activation; NaN stays NaN. */
TW_KERNEL ${type} tw_sn_${type}_${clip}(${type} value, ${type} low, ${type} high)
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
