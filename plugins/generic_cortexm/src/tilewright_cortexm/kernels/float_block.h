#pragma once
#include "prelude.h"
#include <stddef.h>
#include <stdint.h>

/* What a block of floats is given, and changes. Distances are in bytes; one run of values for each of `runs`. */
typedef struct {
    const float *x; /* of the first pixel */
    int32_t x_step; /* between pixels, or between taps of a depthwise convolution */
    const float *w; /* of four outputs in turn */
    int32_t w_block; /* from four outputs to the next */
    const float *bias;
    float *y;
    int32_t y_step;
    int32_t outputs;
    int32_t runs;
    int32_t fours; /* values of a run by four, and what is left; of a depthwise convolution taps, and nothing */
    int32_t rest;
    int32_t x_jump; /* from the end of a run to the next one */
    int32_t w_jump;
    /* the fused activation */
    float low;
    float high;
} tw_float_block;

TW_KERNEL const float *tw_float_at(const float *from, int32_t distance)
{
    return (const float *)(const void *)((const uint8_t *)(const void *)from + distance);
}

/* The fused activation; NaN stays NaN. */
TW_KERNEL float tw_float_clip(float value, float low, float high)
{
    return (value < low) ? low : ((value > high) ? high : value);
}
