#pragma once
#include "tw_cos_near_0.h"
#include "tw_quarter_turns.h"
#include "tw_sin_near_0.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* tan(x), for any x. */
TW_KERNEL float tw_tanf(float x)
{
    if (!((x > -INFINITY) && (x < INFINITY))) {
        return NAN;
    }
    uint32_t n;
    const float r = tw_quarter_turns(x, &n);
    const float s = tw_sin_near_0(r);
    const float c = tw_cos_near_0(r);
    return ((n & 1) != 0) ? (-c / s) : (s / c);
}
