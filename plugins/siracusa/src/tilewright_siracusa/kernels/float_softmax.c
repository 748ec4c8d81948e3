<%doc>
Needs log (whether logarithms are asked for).
</%doc>\
#ifndef TW_XP_F32_BASE
#define TW_XP_F32_BASE
/* The largest element of a row; NaN where one is NaN, or the largest is infinite. */
TW_KERNEL float tw_xp_f32_base(int32_t count, const float *x, int32_t x_step)
{
    float found[] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, 0.0f, 0.0f, 0.0f, 0.0f};
    tw_xp_f32_largest(count, x, x_step, found);
    float largest = tw_xp_f32_max(tw_xp_f32_max(found[0], found[1]), tw_xp_f32_max(found[2], found[3]));
    const float sum = (found[4] + found[5]) + (found[6] + found[7]);
    if (sum != sum) { /* a NaN, or infinities of both signs */
        for (int32_t i = 0; i < count; ++i) {
            largest = x[i * x_step] != x[i * x_step] ? NAN : largest;
        }
    }
    return largest - largest == 0.0f ? largest : NAN;
}
#endif

% if log:
#ifndef TW_XP_F32_LOG_SOFTMAX
#define TW_XP_F32_LOG_SOFTMAX
/* One row: y = x - max - log(sum(exp(x - max))). NaN, or an infinite largest element, makes the whole row NaN. */
TW_KERNEL void tw_xp_f32_log_softmax(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    const float largest = tw_xp_f32_base(count, x, x_step);
    float sums[] = {0.0f, 0.0f, 0.0f, 0.0f};
    tw_xp_f32_shares_only(count, x, x_step, largest, sums);
    const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    tw_xp_f32_less(count, x, x_step, y, y_step, largest, tw_logf(sum * 0x1p-64f));
}
#endif
% else:
#ifndef TW_XP_F32_SOFTMAX
#define TW_XP_F32_SOFTMAX
/* One row: y = exp(x - max) / sum(exp(x - max)). NaN, or an infinite largest element, makes the whole row NaN. */
TW_KERNEL void tw_xp_f32_softmax(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    const float largest = tw_xp_f32_base(count, x, x_step);
    float sums[] = {0.0f, 0.0f, 0.0f, 0.0f};
    tw_xp_f32_shares(count, x, x_step, y, y_step, largest, sums);
    const float factor = (largest - largest) + 1.0f / ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    tw_xp_f32_scaled(count, y, y_step, y, y_step, factor);
}
#endif
% endif
