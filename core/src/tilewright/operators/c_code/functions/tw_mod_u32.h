#pragma once
#include "../prelude.h"
#include <stdint.h>

/* What a divided by b leaves; 0 where b is 0. */
TW_KERNEL uint32_t tw_mod_u32(uint32_t a, uint32_t b)
{
    return (b == 0) ? 0 : (a % b);
}
