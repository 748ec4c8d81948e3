#pragma once
#include "../prelude.h"
#include <stdint.h>

/* As tw_div_i32. */
TW_KERNEL uint64_t tw_div_u64(uint64_t a, uint64_t b)
{
    return (b == 0) ? 0 : (a / b);
}
