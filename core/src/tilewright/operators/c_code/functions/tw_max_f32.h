#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The larger one; NaN where either is NaN. */
TW_KERNEL float tw_max_f32(float a, float b)
{
    return ((a > b) || (a != a)) ? a : b;
}
