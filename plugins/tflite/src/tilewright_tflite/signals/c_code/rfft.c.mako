#include "prelude.h"
#include <stdint.h>

/* The samples in the order in which steps of four, and a last one of two, take them; zeros behind the last one. */
TW_KERNEL void tw_signal_sorted_${kind}(int32_t count, const ${type} *x, int32_t x_step, ${type} *y, int32_t y_step,
                                int32_t half)
{
    for (int32_t to = 0; to < half; ++to) {
        const int32_t from = tw_signal_place_${kind}(to, half);
        y[2 * to * y_step] = (2 * from < count) ? x[2 * from * x_step] : (${type})0;
        y[(2 * to + 1) * y_step] = (2 * from + 1 < count) ? x[(2 * from + 1) * x_step] : (${type})0;
    }
}

/* The bins of the samples at even and at odd places, which y has together, are told apart. */
TW_KERNEL void tw_signal_apart_${kind}(const ${type} *v, int32_t v_step, ${type} *y, int32_t y_step, int32_t half)
{
    const tw_signal_point_${kind} first = tw_signal_load_${kind}(y, y_step, 0, 2);
    const tw_signal_point_${kind} low = {tw_signal_add_${kind}(first.re, first.im), 0};
    const tw_signal_point_${kind} high = {tw_signal_less_${kind}(first.re, first.im), 0};
    tw_signal_store_${kind}(y, y_step, 0, low);
    tw_signal_store_${kind}(y, y_step, half, high);
    for (int32_t k = 1; k <= half / 2; ++k) {
        const tw_signal_point_${kind} a = tw_signal_load_${kind}(y, y_step, k, 2);
        const tw_signal_point_${kind} b = tw_signal_mirrored_${kind}(y, y_step, half - k);
        const tw_signal_point_${kind} sum = tw_signal_sum_${kind}(a, b);
        const tw_signal_point_${kind} turned =
            tw_signal_turned_${kind}(tw_signal_difference_${kind}(a, b), v, v_step, k - 1);
% if kind == "i16":
        const tw_signal_point_i16 near = {tw_signal_half_i16(sum.re + turned.re), tw_signal_half_i16(sum.im + turned.im)};
        const tw_signal_point_i16 far = {tw_signal_half_i16(sum.re - turned.re), tw_signal_half_i16(turned.im - sum.im)};
% else:
        const tw_signal_point_${kind} near = {tw_signal_half_${kind}(tw_signal_add_${kind}(sum.re, turned.re)),
                                      tw_signal_half_${kind}(tw_signal_add_${kind}(sum.im, turned.im))};
        const tw_signal_point_${kind} far = {tw_signal_half_${kind}(tw_signal_less_${kind}(sum.re, turned.re)),
                                     tw_signal_half_${kind}(tw_signal_less_${kind}(turned.im, sum.im))};
% endif
        tw_signal_store_${kind}(y, y_step, k, near);
        tw_signal_store_${kind}(y, y_step, half - k, far);
    }
}

/* The half + 1 bins of 2 * half real samples, of which `count` are there; half is a power of two. */
TW_KERNEL void tw_signal_rfft_${kind}(int32_t rows, int32_t count, const ${type} *x, int32_t x_row, int32_t x_step,
                              const ${type} *w, int32_t w_step, const ${type} *v, int32_t v_step, ${type} *y,
                              int32_t y_row, int32_t y_step, int32_t half)
{
    for (int32_t row = 0; row < rows; ++row) {
        ${type} *const bins = &y[row * y_row];
        tw_signal_sorted_${kind}(count, &x[row * x_row], x_step, bins, y_step, half);
        tw_signal_transform_${kind}(w, w_step, bins, y_step, half, 0);
        tw_signal_apart_${kind}(v, v_step, bins, y_step, half);
    }
}
