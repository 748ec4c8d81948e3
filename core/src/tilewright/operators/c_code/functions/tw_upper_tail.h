#pragma once
#include "tw_bell.h"
#include "../prelude.h"
#include <stdint.h>

/* The part of the normal distribution beyond x >= 0, times a factor: exp(-x^2 / 2) p(x),
 * p(x) = q(x - 1) near 0 and t q(t) beyond, t = 1 / (1 + x/4). */
TW_KERNEL float tw_upper_tail(float x, float factor)
{
    if (!(x < 14.5f)) {
        return (x >= 14.5f) ? 0.0f : x;
    }
    if (x < 2.0f) {
        const float d = x - 1.0f;
        const float p = 0x1.0bdb2e0000000p-2f
            + (d * (-0x1.19524c0000000p-3f
            + (d * (0x1.fcc8180000000p-5f
            + (d * (-0x1.9aff640000000p-6f
            + (d * (0x1.2f493a0000000p-7f
            + (d * (-0x1.9f3bfa0000000p-9f
            + (d * (0x1.09f8c20000000p-10f
            + (d * (-0x1.3d4e8e0000000p-12f
            + (d * (0x1.7207ae0000000p-14f
            + (d * (-0x1.e834320000000p-16f
            + (d * 0x1.e3043a0000000p-18f)))))))))))))))))));
        return tw_bell(x) * p * factor;
    }
    const float t = 1.0f / (1.0f + (0.25f * x));
    const float q = 0x1.988f060000000p-4f
        + (t * (0x1.9796140000000p-4f
        + (t * (0x1.87e37c0000000p-4f
        + (t * (0x1.1c253a0000000p-4f
        + (t * (0x1.a0fda80000000p-4f
        + (t * (-0x1.1edbc40000000p-5f
        + (t * (0x1.e4af420000000p-4f
        + (t * -0x1.9547b60000000p-5f)))))))))))));
    return tw_bell(x) * (t * q * factor);
}
