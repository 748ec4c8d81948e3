#pragma once
#include "../prelude.h"
#include <stdint.h>

/* As tw_div_i32. */
TW_KERNEL int64_t tw_div_i64(int64_t a, int64_t b)
{
    if ((b == 0) || ((b == -1) && (a == INT64_MIN))) {
        return (b == 0) ? 0 : a;
    }
    return a / b;
}
