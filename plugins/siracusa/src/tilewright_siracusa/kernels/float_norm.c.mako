<%doc>
Needs row (the function's name), function (of the last pass), scaled, shifted, centred.
</%doc>\
#include "float_root.h"

<%
    streams = [("scale", scaled), ("shift", shifted)]
    given = "".join(f", const float *{stream}" for stream, has in streams if has)
    passed = "".join(f"{stream}, 1, " for stream, has in streams if has)
%>\
/* One row: y = (x - mean) / sqrt(mean((x - mean)^2) + epsilon)${" scale" if scaled else ""}${" + shift" if shifted else ""}${"" if centred else ", mean = 0"}. */
TW_KERNEL void ${row}(int32_t count, float epsilon, const float *x, int32_t x_step${given},
        float *y, int32_t y_step)
{
% if centred:
    float totals[] = {0.0f, 0.0f, 0.0f, 0.0f};
    tw_xp_f32_total(count, x, x_step, totals);
    const float mean = ((totals[0] + totals[1]) + (totals[2] + totals[3])) / (float)count;
% else:
    const float mean = 0.0f;
% endif
    float squares[] = {0.0f, 0.0f, 0.0f, 0.0f};
    tw_xp_f32_squares(count, x, x_step, mean, squares);
    const float square = ((squares[0] + squares[1]) + (squares[2] + squares[3])) / (float)count;
    ${function}(count, x, x_step, ${passed}y, y_step, mean, 1.0f / tw_xp_f32_root(square + epsilon));
}
