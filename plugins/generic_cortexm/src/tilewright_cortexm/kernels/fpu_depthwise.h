#pragma once
#include "float_depthwise.h"

/* What blocks of neighbours compute, in C: windows are `stride` taps apart. */
TW_KERNEL void tw_fpu_neighbours(const tw_float_block *b, int32_t pixels, int32_t stride)
{
    for (int32_t p = 0; p < pixels; ++p) {
        tw_float_block one = *b;
        one.x = tw_float_at(b->x, p * stride * b->x_step);
        one.y = b->y + (p * (b->y_step / 4));
        tw_float_taps(&one);
    }
}
