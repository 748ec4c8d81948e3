#pragma once
#include "tw_log1pf.h"
#include "tw_logf.h"
#include "tw_sqrtf.h"
#include "../prelude.h"
#include <stdint.h>

/* asinh(x) = log(|x| + sqrt(x^2 + 1)), with the sign of x. */
TW_KERNEL float tw_asinhf(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    if (!(size > 0x1.0p-12f)) {
        return x;
    }
    float y;
    if (size > 0x1.0p+14f) {
        y = tw_logf(size) + 0x1.62e4300000000p-1f;
    } else {
        const float square = size * size;
        y = tw_log1pf(size + (square / (1.0f + tw_sqrtf(square + 1.0f))));
    }
    return (x < 0.0f) ? -y : y;
}
