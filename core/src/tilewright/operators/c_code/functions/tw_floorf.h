#pragma once
#include "tw_truncf.h"
#include "../prelude.h"
#include <stdint.h>

/* The largest integer not above x. */
TW_KERNEL float tw_floorf(float x)
{
    const float whole = tw_truncf(x);
    return (whole > x) ? (whole - 1.0f) : whole;
}
