#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* A complex number of parts of the transform's kind. */
typedef struct {
    ${part} re;
    ${part} im;
} tw_signal_point_${kind};

% if kind == "i16":
/* What 16 bits hold of v. */
TW_KERNEL int32_t tw_signal_word_i16(int64_t v)
{
    const uint32_t low = (uint32_t)(uint64_t)v & 0xFFFFu;
    return (low < 0x8000u) ? (int32_t)low : ((int32_t)low - 0x10000);
}

% elif kind == "i32":
/* What 32 bits hold of v. */
TW_KERNEL int32_t tw_signal_word_i32(int64_t v)
{
    const uint32_t low = (uint32_t)(uint64_t)v;
    return (low <= INT32_MAX) ? (int32_t)low : (-1 - (int32_t)(~low));
}

% endif
% if kind == "f32":
TW_KERNEL float tw_signal_add_f32(float a, float b)
{
    return a + b;
}

TW_KERNEL float tw_signal_less_f32(float a, float b)
{
    return a - b;
}

TW_KERNEL float tw_signal_half_f32(float v)
{
    return v * 0.5f;
}

/* Floats are not divided. */
TW_KERNEL float tw_signal_share_f32(float v, int32_t parts)
{
    (void)parts;
    return v;
}
% else:
/* v / 2^${bits} to the nearest: of products of two words, or sums of two of them. */
TW_KERNEL int32_t tw_signal_rounded_${kind}(int64_t v)
{
    return tw_signal_word_${kind}(tw_floor_shift(v + ((int64_t)1 << ${bits - 1}), ${bits}));
}

TW_KERNEL int32_t tw_signal_add_${kind}(int32_t a, int32_t b)
{
    return tw_signal_word_${kind}((int64_t)a + b);
}

TW_KERNEL int32_t tw_signal_less_${kind}(int32_t a, int32_t b)
{
    return tw_signal_word_${kind}((int64_t)a - b);
}

/* v / 2, rounded down. */
TW_KERNEL int32_t tw_signal_half_${kind}(int32_t v)
{
    return (int32_t)tw_floor_shift(v, 1);
}

/* v, divided by `parts`. */
TW_KERNEL int32_t tw_signal_share_${kind}(int32_t v, int32_t parts)
{
    return tw_signal_rounded_${kind}((int64_t)v * (${"INT16_MAX" if kind == "i16" else "INT32_MAX"} / parts));
}
% endif

TW_KERNEL tw_signal_point_${kind} tw_signal_sum_${kind}(tw_signal_point_${kind} a, tw_signal_point_${kind} b)
{
    const tw_signal_point_${kind} p = {tw_signal_add_${kind}(a.re, b.re), tw_signal_add_${kind}(a.im, b.im)};
    return p;
}

TW_KERNEL tw_signal_point_${kind} tw_signal_difference_${kind}(tw_signal_point_${kind} a, tw_signal_point_${kind} b)
{
    const tw_signal_point_${kind} p = {tw_signal_less_${kind}(a.re, b.re), tw_signal_less_${kind}(a.im, b.im)};
    return p;
}

/* Point number i, divided by `parts`. */
TW_KERNEL tw_signal_point_${kind} tw_signal_load_${kind}(const ${type} *y, int32_t y_step, int32_t i, int32_t parts)
{
    const tw_signal_point_${kind} p = {tw_signal_share_${kind}(y[2 * i * y_step], parts),
                               tw_signal_share_${kind}(y[(2 * i + 1) * y_step], parts)};
    return p;
}

/* The same with the other sign of its imaginary part, divided by 2. */
TW_KERNEL tw_signal_point_${kind} tw_signal_mirrored_${kind}(const ${type} *y, int32_t y_step, int32_t i)
{
    const tw_signal_point_${kind} p = {
        tw_signal_share_${kind}(y[2 * i * y_step], 2),
        tw_signal_share_${kind}(tw_signal_less_${kind}(0, y[(2 * i + 1) * y_step]), 2)};
    return p;
}

TW_KERNEL void tw_signal_store_${kind}(${type} *y, int32_t y_step, int32_t i, tw_signal_point_${kind} p)
{
    y[2 * i * y_step] = (${type})p.re;
    y[(2 * i + 1) * y_step] = (${type})p.im;
}

/* a by twiddle number i. */
TW_KERNEL tw_signal_point_${kind} tw_signal_turned_${kind}(tw_signal_point_${kind} a, const ${type} *w, int32_t w_step, int32_t i)
{
% if kind == "f32":
    const float re = w[2 * i * w_step];
    const float im = w[(2 * i + 1) * w_step];
    const tw_signal_point_f32 p = {(a.re * re) - (a.im * im), (a.re * im) + (a.im * re)};
% else:
    const int64_t re = w[2 * i * w_step];
    const int64_t im = w[(2 * i + 1) * w_step];
    const tw_signal_point_${kind} p = {tw_signal_rounded_${kind}((a.re * re) - (a.im * im)),
                               tw_signal_rounded_${kind}((a.re * im) + (a.im * re))};
% endif
    return p;
}

/* Which point steps of four, and a last one of two, take at place number `to` of `half` points. */
TW_KERNEL int32_t tw_signal_place_${kind}(int32_t to, int32_t half)
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
TW_KERNEL void tw_signal_two_${kind}(const ${type} *w, int32_t w_step, ${type} *y, int32_t y_step, int32_t size,
                             int32_t stride)
{
    for (int32_t k = 0; k < size; ++k) {
        const tw_signal_point_${kind} a = tw_signal_load_${kind}(y, y_step, k, 2);
        const tw_signal_point_${kind} b =
            tw_signal_turned_${kind}(tw_signal_load_${kind}(y, y_step, k + size, 2), w, w_step, k * stride);
        tw_signal_store_${kind}(y, y_step, k, tw_signal_sum_${kind}(a, b));
        tw_signal_store_${kind}(y, y_step, k + size, tw_signal_difference_${kind}(a, b));
    }
}

/* Four transforms of `size` points become one. `back` where they lead back. */
TW_KERNEL void tw_signal_four_${kind}(const ${type} *w, int32_t w_step, ${type} *y, int32_t y_step, int32_t size,
                              int32_t stride, int32_t back)
{
    for (int32_t k = 0; k < size; ++k) {
        const tw_signal_point_${kind} a = tw_signal_load_${kind}(y, y_step, k, 4);
        const tw_signal_point_${kind} b =
            tw_signal_turned_${kind}(tw_signal_load_${kind}(y, y_step, k + size, 4), w, w_step, k * stride);
        const tw_signal_point_${kind} c =
            tw_signal_turned_${kind}(tw_signal_load_${kind}(y, y_step, k + 2 * size, 4), w, w_step, 2 * k * stride);
        const tw_signal_point_${kind} d =
            tw_signal_turned_${kind}(tw_signal_load_${kind}(y, y_step, k + 3 * size, 4), w, w_step, 3 * k * stride);
        const tw_signal_point_${kind} apart = tw_signal_difference_${kind}(a, c);
        const tw_signal_point_${kind} sum = tw_signal_sum_${kind}(a, c);
        const tw_signal_point_${kind} both = tw_signal_sum_${kind}(b, d);
        const tw_signal_point_${kind} other = tw_signal_difference_${kind}(b, d);
        const tw_signal_point_${kind} ahead = {tw_signal_add_${kind}(apart.re, other.im),
                                       tw_signal_less_${kind}(apart.im, other.re)};
        const tw_signal_point_${kind} behind = {tw_signal_less_${kind}(apart.re, other.im),
                                        tw_signal_add_${kind}(apart.im, other.re)};
        tw_signal_store_${kind}(y, y_step, k, tw_signal_sum_${kind}(sum, both));
        tw_signal_store_${kind}(y, y_step, k + size, back ? behind : ahead);
        tw_signal_store_${kind}(y, y_step, k + 2 * size, tw_signal_difference_${kind}(sum, both));
        tw_signal_store_${kind}(y, y_step, k + 3 * size, back ? ahead : behind);
    }
}

/* The transform of `half` points that lie as `tw_signal_place` says; half is a power of two. */
TW_KERNEL void tw_signal_transform_${kind}(const ${type} *w, int32_t w_step, ${type} *y, int32_t y_step, int32_t half,
                                   int32_t back)
{
    int32_t size = 1;
    for (int32_t rest = half; rest > 1;) {
        const int32_t radix = ((size == 1) && ((half & 0x55555555) == 0)) ? 2 : 4;
        const int32_t stride = half / (size * radix);
        for (int32_t at = 0; at < half; at += size * radix) {
            if (radix == 2) {
                tw_signal_two_${kind}(w, w_step, &y[2 * at * y_step], y_step, size, stride);
            } else {
                tw_signal_four_${kind}(w, w_step, &y[2 * at * y_step], y_step, size, stride, back);
            }
        }
        size *= radix;
        rest /= radix;
    }
}
