#pragma once
#include "../prelude.h"
#include <stdint.h>

/* As tw_div_i32. */
TW_KERNEL uint32_t tw_div_u32(uint32_t a, uint32_t b)
{
    return (b == 0) ? 0 : (a / b);
}
