#pragma once
#include "dsp.h"
#include <stdint.h>

typedef struct { /* a convolution of 3x3, stride 1, over a channels-last image */
    /* of x; bytes between rows */
    int32_t width;
    int32_t height;
    int32_t x_row;
    /* of y; bytes between pixels, and rows */
    int32_t out_width;
    int32_t out_height;
    int32_t y_step;
    int32_t y_row;
    int32_t top;
    int32_t left;
    int32_t pad; /* value outside, in every byte */
    int32_t above;
    int32_t zero_point;
} tw_dsp_winograd;

/* The halves of 65536 * high + low, where both have a sign, as halves of a word. */
TW_KERNEL uint32_t tw_dsp_halves(uint32_t sum)
{
#ifdef TW_DSP_ARM
    uint32_t r;
    __asm__("pkhtb %0, %1, %2" : "=r"(r) : "r"(sum + 0x8000u), "r"(sum));
    return r;
#else
    return ((sum + 0x8000u) & UINT32_C(0xffff0000)) | (sum & 0xffffu);
#endif
}

/* Halves of a word with their signs, and a sum modulo 2^32. */
TW_KERNEL int32_t tw_dsp_low_half(uint32_t word)
{
    return (int32_t)(word << 16) >> 16;
}

TW_KERNEL int32_t tw_dsp_high_half(uint32_t word)
{
    return (int32_t)word >> 16;
}

TW_KERNEL int32_t tw_dsp_added(int32_t sum, int32_t product)
{
    return (int32_t)((uint32_t)sum + (uint32_t)product);
}

/* Where a tile begins that is the `at`-th of so many results each: the last one ends where the image does. */
TW_KERNEL int32_t tw_dsp_tile_start(int32_t at, int32_t side, int32_t extent)
{
    const int32_t last = extent - side;
    const int32_t start = at * side;
    return (start <= last) ? start : ((last > 0) ? last : 0);
}
