#pragma once
#include "../prelude.h"
#include <stdint.h>

/* What a divided by b leaves; 0 where b is 0. */
TW_KERNEL uint64_t tw_mod_u64(uint64_t a, uint64_t b)
{
    return (b == 0) ? 0 : (a % b);
}
