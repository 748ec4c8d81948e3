#pragma once
#include "tw_expf.h"
#include "../prelude.h"
#include <stdint.h>

/* exp(-x^2 / 2) without the error that squaring makes: x = h + l, h^2 exact. For |x| < 16. */
TW_KERNEL float tw_bell(float x)
{
    const float h = (float)(int32_t)(x * 256.0f) * 0x1.0p-8f;
    const float d = (x - h) * (x + h) * 0.5f; /* below 2^-4 */
    const float e = tw_expf(-0.5f * h * h);
    return e - (e * (d * (1.0f - (d * (0.5f - (d * (0x1.5555560000000p-3f - (d * (0x1.5555560000000p-5f)))))))));
}
