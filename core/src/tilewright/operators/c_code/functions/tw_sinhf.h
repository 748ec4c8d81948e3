#pragma once
#include "tw_expf.h"
#include "tw_expm1f.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* sinh(x), from exp(|x|) - 1; by the square of exp(|x| / 2) where that is too large. */
TW_KERNEL float tw_sinhf(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    float y;
    if (size > 88.0f) {
        const float root = tw_expf(0.5f * size);
        y = 0.5f * root * root;
    } else {
        const float t = tw_expm1f(size);
        y = 0.5f * (t + (t / (t + 1.0f)));
    }
    return (x < 0.0f) ? -y : y;
}
