#pragma once
#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* A complex number of 16-bit parts. */
typedef struct {
    int32_t re;
    int32_t im;
} tw_signal_point;

/* What 16 bits hold of v. */
TW_KERNEL int32_t tw_signal_word(int32_t v)
{
    const uint32_t low = (uint32_t)v & 0xFFFFu;
    return (low < 0x8000u) ? (int32_t)low : ((int32_t)low - 0x10000);
}

/* v / 2^15 to the nearest. v + 2^14 is at least -2^31: products of two words, or sums of two of them. */
TW_KERNEL int32_t tw_signal_rounded(int64_t v)
{
    return tw_signal_word((int32_t)tw_floor_shift(v + 0x4000, 15));
}

TW_KERNEL tw_signal_point tw_signal_point_of(int32_t re, int32_t im)
{
    const tw_signal_point p = {tw_signal_word(re), tw_signal_word(im)};
    return p;
}

/* Point number i, divided by `parts`. */
TW_KERNEL tw_signal_point tw_signal_load(const int16_t *y, int32_t y_step, int32_t i, int32_t parts)
{
    const int32_t share = INT16_MAX / parts;
    const tw_signal_point p = {tw_signal_rounded((int64_t)y[2 * i * y_step] * share),
                               tw_signal_rounded((int64_t)y[(2 * i + 1) * y_step] * share)};
    return p;
}

TW_KERNEL void tw_signal_store(int16_t *y, int32_t y_step, int32_t i, int32_t re, int32_t im)
{
    y[2 * i * y_step] = (int16_t)tw_signal_word(re);
    y[(2 * i + 1) * y_step] = (int16_t)tw_signal_word(im);
}

/* a by twiddle number i. */
TW_KERNEL tw_signal_point tw_signal_turned(tw_signal_point a, const int16_t *w, int32_t w_step, int32_t i)
{
    const int64_t re = w[2 * i * w_step];
    const int64_t im = w[(2 * i + 1) * w_step];
    const tw_signal_point p = {tw_signal_rounded(a.re * re - a.im * im), tw_signal_rounded(a.re * im + a.im * re)};
    return p;
}

/* Which point steps of four, and a last one of two, take at place number `to` of `half` points. */
TW_KERNEL int32_t tw_signal_place(int32_t to, int32_t half)
{
    int32_t from = 0;
    int32_t rest = to;
    int32_t stride = 1;
    for (int32_t size = half; size > 1;) {
        const int32_t radix = ((size % 4) == 0) ? 4 : 2;
        size /= radix;
        from += (rest / size) * stride;
        rest %= size;
        stride *= radix;
    }
    return from;
}

/* Two transforms of `size` points become one. */
TW_KERNEL void tw_signal_two(const int16_t *w, int32_t w_step, int16_t *y, int32_t y_step, int32_t size, int32_t stride)
{
    for (int32_t k = 0; k < size; ++k) {
        const tw_signal_point a = tw_signal_load(y, y_step, k, 2);
        const tw_signal_point b =
            tw_signal_turned(tw_signal_load(y, y_step, k + size, 2), w, w_step, k * stride);
        tw_signal_store(y, y_step, k, a.re + b.re, a.im + b.im);
        tw_signal_store(y, y_step, k + size, a.re - b.re, a.im - b.im);
    }
}

/* Four transforms of `size` points become one. `turn` is 1, or -1 where they lead back. */
TW_KERNEL void tw_signal_four(const int16_t *w, int32_t w_step, int16_t *y, int32_t y_step, int32_t size,
                              int32_t stride, int32_t turn)
{
    for (int32_t k = 0; k < size; ++k) {
        const tw_signal_point a = tw_signal_load(y, y_step, k, 4);
        const tw_signal_point b =
            tw_signal_turned(tw_signal_load(y, y_step, k + size, 4), w, w_step, k * stride);
        const tw_signal_point c =
            tw_signal_turned(tw_signal_load(y, y_step, k + 2 * size, 4), w, w_step, 2 * k * stride);
        const tw_signal_point d =
            tw_signal_turned(tw_signal_load(y, y_step, k + 3 * size, 4), w, w_step, 3 * k * stride);
        const tw_signal_point apart = tw_signal_point_of(a.re - c.re, a.im - c.im);
        const tw_signal_point sum = tw_signal_point_of(a.re + c.re, a.im + c.im);
        const tw_signal_point both = tw_signal_point_of(b.re + d.re, b.im + d.im);
        const tw_signal_point difference = tw_signal_point_of(b.re - d.re, b.im - d.im);
        const tw_signal_point other = {turn * difference.re, turn * difference.im};
        tw_signal_store(y, y_step, k, sum.re + both.re, sum.im + both.im);
        tw_signal_store(y, y_step, k + size, apart.re + other.im, apart.im - other.re);
        tw_signal_store(y, y_step, k + 2 * size, sum.re - both.re, sum.im - both.im);
        tw_signal_store(y, y_step, k + 3 * size, apart.re - other.im, apart.im + other.re);
    }
}

/* The transform of `half` points that lie as `tw_signal_place` says; half is a power of two. */
TW_KERNEL void tw_signal_transform(const int16_t *w, int32_t w_step, int16_t *y, int32_t y_step, int32_t half,
                                   int32_t turn)
{
    int32_t size = 1;
    for (int32_t rest = half; rest > 1;) {
        const int32_t radix = ((size == 1) && ((half & 0x55555555) == 0)) ? 2 : 4;
        const int32_t stride = half / (size * radix);
        for (int32_t at = 0; at < half; at += size * radix) {
            if (radix == 2) {
                tw_signal_two(w, w_step, &y[2 * at * y_step], y_step, size, stride);
            } else {
                tw_signal_four(w, w_step, &y[2 * at * y_step], y_step, size, stride, turn);
            }
        }
        size *= radix;
        rest /= radix;
    }
}
