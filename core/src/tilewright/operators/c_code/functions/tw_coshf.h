#pragma once
#include "tw_expf.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* cosh(x), from exp(|x|); by the square of exp(|x| / 2) where that is too large. */
TW_KERNEL float tw_coshf(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    if (size > 88.0f) {
        const float root = tw_expf(0.5f * size);
        return 0.5f * root * root;
    }
    const float t = tw_expf(size);
    return 0.5f * (t + (1.0f / t));
}
