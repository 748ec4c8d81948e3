#pragma once
#include "tw_expf.h"
#include "../prelude.h"
#include <stdint.h>

/* x tanh(log(1 + exp(x))) = x n / (n + 2), n = exp(x) (exp(x) + 2). */
TW_KERNEL float tw_mishf(float x)
{
    if (x > 20.0f) {
        return x;
    }
    if (x < -110.0f) {
        return -0.0f;
    }
    const float e = tw_expf(x);
    const float n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
}
