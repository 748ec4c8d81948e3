#pragma once
#include "tw_log1pf.h"
#include "tw_logf.h"
#include "tw_sqrtf.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* acosh(x) = log(x + sqrt(x^2 - 1)), by x - 1. */
TW_KERNEL float tw_acoshf(float x)
{
    if (!(x >= 1.0f)) {
        return NAN;
    }
    if (x > 0x1.0p+14f) {
        return tw_logf(x) + 0x1.62e4300000000p-1f;
    }
    const float above = x - 1.0f;
    return tw_log1pf(above + tw_sqrtf((2.0f * above) + (above * above)));
}
