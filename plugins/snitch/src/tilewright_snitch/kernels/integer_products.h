#pragma once
#include "streams.h"
#include "windows.h"
#include <stdint.h>

/* No load that stands behind is moved before: gcc would have more values at once than there are registers. */
#if defined(__GNUC__)
#  define TW_SN_NO_SOONER __asm__ volatile("" ::: "memory");
#else
#  define TW_SN_NO_SOONER
#endif

typedef struct {
    int32_t outputs;
    int32_t depth;  /* elements of a window, filled up to a multiple of four */
    int32_t pad;    /* what lies outside */
    int32_t joined; /* whether the taps of a row are neighbours */
    int32_t zero_point;
    int32_t low;
    int32_t high;
} tw_sn_integers;

/* The place of an output, from the first of the tile. */
typedef struct {
    int32_t batch;
    int32_t row;
    int32_t column;
} tw_sn_place;

TW_KERNEL void tw_sn_next(const tw_sn_windows *p, tw_sn_place *at)
{
    if (++at->column == p->columns) {
        at->column = 0;
        if (++at->row == p->rows) {
            at->row = 0;
            ++at->batch;
        }
    }
}

/* clamp(rne(value), low, high) + zero_point; limits are less the zero point. */
TW_KERNEL uint8_t tw_sn_rounded(float value, float low, float high, int32_t zero_point)
{
#ifdef TW_SN_STREAMS
    float above;
    float inside;
    int32_t nearest;
    __asm__("fmax.s %0, %1, %2" : "=f"(above) : "f"(value), "f"(low));
    __asm__("fmin.s %0, %1, %2" : "=f"(inside) : "f"(above), "f"(high));
    __asm__("fcvt.w.s %0, %1, rne" : "=r"(nearest) : "f"(inside));
    return (uint8_t)(nearest + zero_point);
#else
    /* Adding 3 * 2^22 leaves no bit for a fraction: the addition rounds, and the integer is in the low bits. */
    const float inside = (value < low) ? low : ((value > high) ? high : value);
    const union { float value; int32_t bits; } rounded = {.value = inside + 12582912.0f};
    return (uint8_t)(rounded.bits - INT32_C(0x4b400000) + zero_point);
#endif
}

TW_KERNEL uint8_t tw_sn_requantised(int32_t sum, float scale, float low, float high, int32_t zero_point)
{
    return tw_sn_rounded((float)sum * scale, low, high, zero_point);
}

TW_KERNEL float tw_sn_scale(int32_t bits)
{
    const union { int32_t bits; float value; } scale = {.bits = bits};
    return scale.value;
}
