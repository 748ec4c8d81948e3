#pragma once
#include "tw_fmod_i32.h"
#include "../prelude.h"
#include <stdint.h>

/* What a divided by b leaves, with the sign of b; 0 where b is 0. */
TW_KERNEL int32_t tw_mod_i32(int32_t a, int32_t b)
{
    const int32_t rest = tw_fmod_i32(a, b);
    return ((rest != 0) && ((rest < 0) != (b < 0))) ? (rest + b) : rest;
}
