#pragma once
#include "tw_sigmoidf.h"
#include "../prelude.h"
#include <stdint.h>

/* x sigmoid(alpha x). */
TW_KERNEL float tw_swishf(float x, float alpha)
{
    const float s = tw_sigmoidf(alpha * x);
    return (s == 0.0f) ? (s * ((x < 0.0f) ? -1.0f : 1.0f)) : (x * s);
}
