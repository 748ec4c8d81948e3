#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The position mirrored at both ends, which are not repeated. */
TW_KERNEL int32_t tw_pad_reflect(int32_t position, int32_t extent)
{
    const int32_t period = (extent > 1) ? (2 * (extent - 1)) : 1;
    const int32_t rest = position % period;
    const int32_t forward = (rest < 0) ? (rest + period) : rest;
    return (forward < extent) ? forward : (period - forward);
}
