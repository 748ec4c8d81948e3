#pragma once
#include "xpulp.h"
#include <stdint.h>

typedef struct {
    int32_t a_factor;
    int32_t b_factor;
    int32_t offset;
    int32_t shift;
    tw_xp_limits to;
} tw_xp_sum;
