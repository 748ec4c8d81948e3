<%doc>
Needs row (the function's name), prefix, function (of the last pass), scaled, shifted, centred, apart (shifted in one more pass).
</%doc>\
<%
    streams = [("scale", scaled), ("shift", shifted)]
    given = "".join(f", const float *{stream}" for stream, has in streams if has)
    passed = "".join(f"{stream}, 1, " for stream, has in streams if has and not (apart and stream == "shift"))
%>\
/* One row: y = (x - mean) / sqrt(mean((x - mean)^2) + epsilon)${" scale" if scaled else ""}${" + shift" if shifted else ""}${"" if centred else ", mean = 0"}.${"""
 * The mean is the first element and the mean of all distances from it: exact where all are equal.""" if centred else ""} */
TW_KERNEL void ${row}(int32_t count, float epsilon, const float *x, int32_t x_step${given},
        float *y, int32_t y_step)
{
% if centred:
    float totals[] = {0.0f, 0.0f, 0.0f, 0.0f};
    ${prefix}_f32_distances(count, x, x_step, x[0], totals);
    const float mean = x[0] + (((totals[0] + totals[1]) + (totals[2] + totals[3])) / (float)count);
% else:
    const float mean = 0.0f;
% endif
    float squares[] = {0.0f, 0.0f, 0.0f, 0.0f};
    ${prefix}_f32_squares(count, x, x_step, mean, squares);
    const float square = ((squares[0] + squares[1]) + (squares[2] + squares[3])) / (float)count;
    ${function}(count, x, x_step, ${passed}y, y_step, mean, 1.0f / ${prefix}_f32_root(square + epsilon));
% if apart:
    ${prefix}_f32_sum(count, y, y_step, shift, 1, y, y_step);
% endif
}
