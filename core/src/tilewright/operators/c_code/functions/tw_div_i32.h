#pragma once
#include "../prelude.h"
#include <stdint.h>

/* Quotient without its fraction; 0 where the divisor is 0; the one quotient that does not fit wraps. */
TW_KERNEL int32_t tw_div_i32(int32_t a, int32_t b)
{
    if ((b == 0) || ((b == -1) && (a == INT32_MIN))) {
        return (b == 0) ? 0 : a;
    }
    return a / b;
}
