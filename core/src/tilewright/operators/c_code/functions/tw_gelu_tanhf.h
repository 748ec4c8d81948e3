#pragma once
#include "tw_sigmoidf.h"
#include "../prelude.h"
#include <stdint.h>

/* The tanh form of gelu, as x times a sigmoid. */
TW_KERNEL float tw_gelu_tanhf(float x)
{
    const float z = x * (0x1.9884540000000p+0f + (0x1.2444f20000000p-4f * (x * x)));
    return (x < -20.0f) ? -0.0f : (x * tw_sigmoidf(z));
}
