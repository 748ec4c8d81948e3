#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The smaller one; NaN where either is NaN. */
TW_KERNEL float tw_min_f32(float a, float b)
{
    return ((a < b) || (a != a)) ? a : b;
}
