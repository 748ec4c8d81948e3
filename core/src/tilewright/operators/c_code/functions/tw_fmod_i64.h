#pragma once
#include "../prelude.h"
#include <stdint.h>

/* What a divided by b leaves, with the sign of a; 0 where b is 0. */
TW_KERNEL int64_t tw_fmod_i64(int64_t a, int64_t b)
{
    return ((b == 0) || (b == -1)) ? 0 : (a % b);
}
