#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The position modulo the extent. */
TW_KERNEL int32_t tw_pad_wrap(int32_t position, int32_t extent)
{
    const int32_t rest = position % extent;
    return (rest < 0) ? (rest + extent) : rest;
}
