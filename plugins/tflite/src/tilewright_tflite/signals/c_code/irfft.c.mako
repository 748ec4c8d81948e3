#include "prelude.h"
#include "transform.h"
#include <stdint.h>

/* Point k of the `half` points whose transform back has the samples at even and at odd places together. */
TW_KERNEL tw_signal_point tw_signal_joined(const int16_t *x, int32_t x_step, const int16_t *v, int32_t v_step, int32_t k,
                                           int32_t half)
{
    if (k == 0) {
        const tw_signal_point ends = tw_signal_point_of((int32_t)x[0] + x[2 * half * x_step],
                                                        (int32_t)x[0] - x[2 * half * x_step]);
        const tw_signal_point first = {tw_signal_rounded((int64_t)ends.re * (INT16_MAX / 2)),
                                       tw_signal_rounded((int64_t)ends.im * (INT16_MAX / 2))};
        return first;
    }
    const int32_t near = ((2 * k) < half) ? k : (half - k);
    const tw_signal_point a = tw_signal_load(x, x_step, near, 2);
    const int32_t im = tw_signal_word(-(int32_t)x[(2 * (half - near) + 1) * x_step]);
    tw_signal_point b = tw_signal_load(x, x_step, half - near, 2);
    b.im = tw_signal_rounded((int64_t)im * (INT16_MAX / 2));
    const tw_signal_point sum = tw_signal_point_of(a.re + b.re, a.im + b.im);
    const tw_signal_point turned =
        tw_signal_turned(tw_signal_point_of(a.re - b.re, a.im - b.im), v, v_step, near - 1);
    if (near == k) {
        return tw_signal_point_of(sum.re + turned.re, sum.im + turned.im);
    }
    return tw_signal_point_of(sum.re - turned.re, -tw_signal_word(sum.im - turned.im));
}

/* The 2 * half real samples of half + 1 bins; half is a power of two. */
TW_KERNEL void tw_signal_irfft(const int16_t *x, int32_t x_step, const int16_t *w, int32_t w_step, const int16_t *v,
                               int32_t v_step, int16_t *y, int32_t y_step, int32_t half)
{
    for (int32_t to = 0; to < half; ++to) {
        const tw_signal_point point = tw_signal_joined(x, x_step, v, v_step, tw_signal_place(to, half), half);
        tw_signal_store(y, y_step, to, point.re, point.im);
    }
    tw_signal_transform(w, w_step, y, y_step, half, -1);
}
