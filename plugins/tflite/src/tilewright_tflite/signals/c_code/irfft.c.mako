#include "prelude.h"
#include <stdint.h>

/* Point k of the `half` points whose transform back has the samples at even and at odd places together. */
TW_KERNEL tw_signal_point_${kind} tw_signal_joined_${kind}(const ${type} *x, int32_t x_step, const ${type} *v, int32_t v_step,
                                           int32_t k, int32_t half)
{
    if (k == 0) {
        const ${type} last = x[2 * half * x_step];
        const tw_signal_point_${kind} ends = {tw_signal_share_${kind}(tw_signal_add_${kind}(x[0], last), 2),
                                      tw_signal_share_${kind}(tw_signal_less_${kind}(x[0], last), 2)};
        return ends;
    }
    const int32_t near = ((2 * k) < half) ? k : (half - k);
    const tw_signal_point_${kind} a = tw_signal_load_${kind}(x, x_step, near, 2);
    const tw_signal_point_${kind} b = tw_signal_mirrored_${kind}(x, x_step, half - near);
    const tw_signal_point_${kind} sum = tw_signal_sum_${kind}(a, b);
    const tw_signal_point_${kind} turned =
        tw_signal_turned_${kind}(tw_signal_difference_${kind}(a, b), v, v_step, near - 1);
    if ((2 * k) < half) {
        return tw_signal_sum_${kind}(sum, turned);
    }
    tw_signal_point_${kind} far = tw_signal_difference_${kind}(sum, turned);
    far.im = tw_signal_less_${kind}(0, far.im);
    return far;
}

/* The 2 * half real samples of half + 1 bins; half is a power of two. */
TW_KERNEL void tw_signal_irfft_${kind}(int32_t rows, const ${type} *x, int32_t x_row, int32_t x_step, const ${type} *w,
                               int32_t w_step, const ${type} *v, int32_t v_step, ${type} *y, int32_t y_row,
                               int32_t y_step, int32_t half)
{
    for (int32_t row = 0; row < rows; ++row) {
        ${type} *const samples = &y[row * y_row];
        for (int32_t to = 0; to < half; ++to) {
            const int32_t k = tw_signal_place_${kind}(to, half);
            const tw_signal_point_${kind} p = tw_signal_joined_${kind}(&x[row * x_row], x_step, v, v_step, k, half);
            tw_signal_store_${kind}(samples, y_step, to, p);
        }
        tw_signal_transform_${kind}(w, w_step, samples, y_step, half, 1);
% if kind == "f32":
        for (int32_t i = 0; i < 2 * half; ++i) {
            samples[i * y_step] /= (float)(2 * half);
        }
% endif
    }
}
