#pragma once
#include <stdint.h>

/* What a depthwise layer of floats has beside its windows: elements between neighbours. */
typedef struct {
    int32_t x_channel, y_channel, w_channel, w_tap;
    float low, high;
} tw_xp_lane_floats;
