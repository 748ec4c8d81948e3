#pragma once
#include <stdint.h>

/* What a depthwise layer of floats has beside its windows: elements between neighbours. */
typedef struct {
    int32_t x_channel;
    int32_t y_channel;
    int32_t w_channel;
    int32_t w_tap;
    float low;
    float high;
} tw_xp_lane_floats;
