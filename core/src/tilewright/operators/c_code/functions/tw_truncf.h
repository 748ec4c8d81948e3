#pragma once
#include "../prelude.h"
#include <stdint.h>

/* x without its fraction, towards zero; floats of 2^23 and more have none. */
TW_KERNEL float tw_truncf(float x)
{
    if (!((x > -0x1.0p+23f) && (x < 0x1.0p+23f))) {
        return x;
    }
    const float whole = (float)(int32_t)x;
    return (whole == 0.0f) ? (x * 0.0f) : whole; /* keeps the sign of zero */
}
