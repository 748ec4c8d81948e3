#include "floor_shift.h"
#include "prelude.h"
#include "transform.h"
#include <stdint.h>

/* The samples in the order in which steps of four, and a last one of two, take them; zeros behind the last one. */
TW_KERNEL void tw_signal_sorted(int32_t count, const int16_t *x, int32_t x_step, int16_t *y, int32_t y_step,
                                int32_t half)
{
    for (int32_t to = 0; to < half; ++to) {
        const int32_t from = tw_signal_place(to, half);
        y[2 * to * y_step] = (2 * from < count) ? x[2 * from * x_step] : (int16_t)0;
        y[(2 * to + 1) * y_step] = (2 * from + 1 < count) ? x[(2 * from + 1) * x_step] : (int16_t)0;
    }
}

/* v / 2, rounded down. */
TW_KERNEL int32_t tw_signal_half(int32_t v)
{
    return (int32_t)tw_floor_shift(v, 1);
}

/* The bins of the samples at even and at odd places, which y has together, are told apart. */
TW_KERNEL void tw_signal_apart(const int16_t *v, int32_t v_step, int16_t *y, int32_t y_step, int32_t half)
{
    const tw_signal_point first = tw_signal_load(y, y_step, 0, 2);
    tw_signal_store(y, y_step, 0, first.re + first.im, 0);
    tw_signal_store(y, y_step, half, first.re - first.im, 0);
    for (int32_t k = 1; k <= half / 2; ++k) {
        const tw_signal_point a = tw_signal_load(y, y_step, k, 2);
        const int32_t im = tw_signal_word(-(int32_t)y[(2 * (half - k) + 1) * y_step]);
        tw_signal_point b = tw_signal_load(y, y_step, half - k, 2);
        b.im = tw_signal_rounded((int64_t)im * (INT16_MAX / 2));
        const tw_signal_point sum = tw_signal_point_of(a.re + b.re, a.im + b.im);
        const tw_signal_point turned =
            tw_signal_turned(tw_signal_point_of(a.re - b.re, a.im - b.im), v, v_step, k - 1);
        tw_signal_store(y, y_step, k, tw_signal_half(sum.re + turned.re), tw_signal_half(sum.im + turned.im));
        tw_signal_store(y, y_step, half - k, tw_signal_half(sum.re - turned.re), tw_signal_half(turned.im - sum.im));
    }
}

/* The half + 1 bins of 2 * half real samples, of which `count` are there; half is a power of two. */
TW_KERNEL void tw_signal_rfft(int32_t count, const int16_t *x, int32_t x_step, const int16_t *w, int32_t w_step,
                              const int16_t *v, int32_t v_step, int16_t *y, int32_t y_step, int32_t half)
{
    tw_signal_sorted(count, x, x_step, y, y_step, half);
    tw_signal_transform(w, w_step, y, y_step, half, 1);
    tw_signal_apart(v, v_step, y, y_step, half);
}
