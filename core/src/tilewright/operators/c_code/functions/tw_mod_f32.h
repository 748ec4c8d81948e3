#pragma once
#include "tw_fmod_f32.h"
#include "../prelude.h"
#include <stdint.h>

/* What x divided by y leaves, with the sign of y. */
TW_KERNEL float tw_mod_f32(float x, float y)
{
    const float rest = tw_fmod_f32(x, y);
    return ((rest != 0.0f) && ((rest < 0.0f) != (y < 0.0f))) ? (rest + y) : rest;
}
