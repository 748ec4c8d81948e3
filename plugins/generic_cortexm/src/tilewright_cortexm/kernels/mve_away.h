#pragma once
#include "mve.h"
#include <stdint.h>

/* acc * scale to the nearest, halves away from zero, as VCVTA has it. */
TW_KERNEL int32_t tw_mve_requant_away(int32_t acc, float scale, int32_t zero_point, int32_t low, int32_t high)
{
    const float product = (float)acc * scale;
    const float v = (product < -1024.0f) ? -1024.0f : ((product > 1024.0f) ? 1024.0f : product);
    const int32_t whole = (int32_t)v;
    const float rest = v - (float)whole;
    const int32_t up = (rest >= 0.5f) ? 1 : 0;
    const int32_t down = (rest <= -0.5f) ? 1 : 0;
    const int32_t q = whole + up - down + zero_point;
    return (q < low) ? low : ((q > high) ? high : q);
}
