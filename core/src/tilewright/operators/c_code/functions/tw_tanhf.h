#pragma once
#include "tw_expm1f.h"
#include "../prelude.h"
#include <stdint.h>

/* tanh(x) = t / (t + 2), t = exp(2x) - 1. */
TW_KERNEL float tw_tanhf(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    if (!(size < 10.0f)) {
        return (x < 0.0f) ? -1.0f : ((x > 0.0f) ? 1.0f : x);
    }
    const float t = tw_expm1f(2.0f * size);
    const float y = t / (t + 2.0f);
    return (x < 0.0f) ? -y : y;
}
