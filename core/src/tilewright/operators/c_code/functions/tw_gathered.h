#pragma once
#include "../prelude.h"
#include <stdint.h>

/* A position counted from the end where it is negative; the nearest one where there is none. */
TW_KERNEL int32_t tw_gathered(int64_t index, int32_t extent)
{
    const int64_t position = (index < 0) ? (index + extent) : index;
    return (position < 0) ? 0 : ((position < extent) ? (int32_t)position : (extent - 1));
}
