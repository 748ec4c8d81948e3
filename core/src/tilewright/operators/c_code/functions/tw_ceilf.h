#pragma once
#include "tw_truncf.h"
#include "../prelude.h"
#include <stdint.h>

/* The smallest integer not below x. */
TW_KERNEL float tw_ceilf(float x)
{
    const float whole = tw_truncf(x);
    return (whole < x) ? (whole + 1.0f) : whole;
}
