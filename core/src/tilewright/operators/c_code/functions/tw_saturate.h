#pragma once
#include "../prelude.h"
#include <stdint.h>

/* x moved by the zero point, kept between low and high. */
TW_KERNEL int32_t tw_saturate(int32_t x, int32_t zero, int32_t low, int32_t high)
{
    const int32_t moved = x + zero;
    return (moved < low) ? low : ((moved > high) ? high : moved);
}
