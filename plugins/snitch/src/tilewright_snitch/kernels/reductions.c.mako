<%doc>
Needs kind ("total", "largest", "smallest").
</%doc>\
% if kind == "total":
/* The sum of a run and of what was there before. */
TW_KERNEL float tw_sn_f32_reduced_total(int32_t count, const float *x, int32_t x_step, float before)
{
    float sums[] = {before, 0.0f, 0.0f, 0.0f};
    tw_sn_f32_total(count, x, x_step, sums);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
% else:
<% chosen = f"tw_sn_f32_{'max' if kind == 'largest' else 'min'}" %>\
/* The ${kind} element of a run and of what was there before; NaN stays NaN. */
TW_KERNEL float tw_sn_f32_reduced_${kind}(int32_t count, const float *x, int32_t x_step, float before)
{
    float found[] = {before, before, before, before, 0.0f, 0.0f, 0.0f, 0.0f};
    tw_sn_f32_${kind}(count, x, x_step, found);
    float chosen = ${chosen}(${chosen}(found[0], found[1]), ${chosen}(found[2], found[3]));
    const float sum = (found[4] + found[5]) + (found[6] + found[7]);
    if (sum != sum) { /* a NaN, or infinities of both signs */
        for (int32_t i = 0; i < count; ++i) {
            chosen = (x[i * x_step] != x[i * x_step]) ? NAN : chosen;
        }
    }
    return (before != before) ? before : chosen;
}
% endif
