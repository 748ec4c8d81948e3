#pragma once
#include "tw_fmod_i64.h"
#include "../prelude.h"
#include <stdint.h>

/* What a divided by b leaves, with the sign of b; 0 where b is 0. */
TW_KERNEL int64_t tw_mod_i64(int64_t a, int64_t b)
{
    const int64_t rest = tw_fmod_i64(a, b);
    return ((rest != 0) && ((rest < 0) != (b < 0))) ? (rest + b) : rest;
}
