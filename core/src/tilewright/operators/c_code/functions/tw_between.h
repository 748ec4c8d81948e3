#pragma once
#include "prelude.h"
#include <stdint.h>

/* Between two values of at most 16 bits, `part` of 128 above the first; what is divided is made positive. */
TW_KERNEL int32_t tw_between(int32_t below, int32_t above, int32_t part)
{
    return below + ((((above - below) * part) + 64 + (1 << 24)) / 128) - (1 << 17);
}
