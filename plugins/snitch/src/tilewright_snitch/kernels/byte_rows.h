#pragma once
#include "streams.h"
#include "integer_products.h"
#include "products.h"
#include "windows.h"
#include <stdint.h>

/* Bytes whose products are summed as float32, which is exact: no sum reaches 2^24. */
typedef struct {
    int32_t channels; /* of a pixel of x that are there */
    int32_t wide;     /* floats of a pixel: channels, and a 0 where their number is odd */
    int32_t outputs;
    int32_t at_once;  /* columns of a row of the output that are computed together, at most */
    int32_t pad;      /* what lies outside */
    int32_t scales;   /* from biases to scales */
    int32_t zero_point;
    int32_t low;
    int32_t high;
} tw_sn_bytes;

/* What a core is told of a layer of windows, in its scratch: stacks are small, or far away. */
typedef struct {
    float lanes[16];
    tw_sn_windows windows;
    tw_sn_bytes bytes;
    tw_sn_products products; /* of a row of windows, where channels are not by themselves */
    tw_sn_sums sums;         /* of a part of the channels */
    int32_t even;            /* what follows begins at a pair of floats */
} tw_sn_byte_layer;

/* fsb: the lowest byte of a register that is a C string. */
#ifdef TW_SN_STREAMS
#  define TW_SN_FSB(rs, place) ".insn s 0x27, 0, " rs ", " place "\n\t"
#endif

/* a * b + c, which is exact here. */
#ifdef TW_SN_STREAMS
#  define TW_SN_FMA(a, b, c) __builtin_fmaf(a, b, c)
#else
#  define TW_SN_FMA(a, b, c) (((a) * (b)) + (c))
#endif

/* clamp(rne((sum + bias) * scale), low, high) + zero_point; limits are less the zero point. */
TW_KERNEL uint8_t tw_sn_byte_of(const tw_sn_bytes *k, float sum, float bias, float scale)
{
    const float low = (float)(k->low - k->zero_point);
    const float high = (float)(k->high - k->zero_point);
    const float exact = sum + bias;
    return tw_sn_rounded(exact * scale, low, high, k->zero_point);
}

TW_KERNEL float *tw_sn_filled(float *to, int32_t count, float value)
{
    for (; count > 0; --count) {
        *to++ = value;
    }
    return to;
}

/* Floats to an earlier place: two at a time, since their number is even and places are those of pairs. */
TW_KERNEL void tw_sn_moved(const float *from, int32_t count, float *to)
{
    const double *pair = (const double *)(const void *)from;
    double *place = (double *)(void *)to;
    for (; count >= 8; count -= 8) {
        const double a = pair[0];
        const double b = pair[1];
        const double c = pair[2];
        const double d = pair[3];
        place[0] = a;
        place[1] = b;
        place[2] = c;
        place[3] = d;
        pair += 4;
        place += 4;
    }
    for (; count > 0; count -= 2) {
        *place++ = *pair++;
    }
}
