#pragma once
#include "xpulp.h"
#include <stdint.h>

typedef struct {
    int32_t a_factor, b_factor, offset, shift;
    tw_xp_limits to;
} tw_xp_sum;
