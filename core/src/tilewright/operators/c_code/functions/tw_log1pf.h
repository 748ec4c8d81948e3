#pragma once
#include "tw_logf.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* log(1 + x); what 1 + x loses of x is a factor of its logarithm. */
TW_KERNEL float tw_log1pf(float x)
{
    const float sum = 1.0f + x;
    if (!((sum != 1.0f) && (sum < INFINITY))) {
        return x;
    }
    return (sum == 0.0f) ? -INFINITY : (tw_logf(sum) + ((x - (sum - 1.0f)) / sum));
}
