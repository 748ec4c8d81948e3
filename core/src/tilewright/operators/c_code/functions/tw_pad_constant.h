#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The position itself, or -1 in the padding. */
TW_KERNEL int32_t tw_pad_constant(int32_t position, int32_t extent)
{
    return (position < extent) ? position : -1;
}
