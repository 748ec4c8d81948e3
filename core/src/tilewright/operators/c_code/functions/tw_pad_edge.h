#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The nearest position inside. */
TW_KERNEL int32_t tw_pad_edge(int32_t position, int32_t extent)
{
    return (position < 0) ? 0 : ((position < extent) ? position : (extent - 1));
}
