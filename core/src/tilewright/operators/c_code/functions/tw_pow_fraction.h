#pragma once
#include "tw_exp2.h"
#include "tw_log2.h"
#include "../prelude.h"
#include <stdint.h>

/* An integer to a power that is none, without its fraction, at most `largest`; what is an integer but for the rounding
 * of its logarithm is that integer. A negative base counts as 0. */
TW_KERNEL double tw_pow_fraction(double base, double exponent, double largest)
{
    if ((base <= 0.0) || (base == 1.0)) {
        return (base == 1.0) ? 1.0 : ((exponent < 0.0) ? largest : 0.0);
    }
    const double logarithm = exponent * tw_log2(base);
    if ((logarithm < -2.0) || (exponent != exponent)) {
        return 0.0;
    }
    const double power = (logarithm < 64.0) ? tw_exp2(logarithm) : largest;
    return ((power * (1.0 + 0x1.0p-40)) < largest) ? (double)(uint64_t)(power * (1.0 + 0x1.0p-40)) : largest;
}
