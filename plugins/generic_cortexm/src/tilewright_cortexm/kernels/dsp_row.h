#pragma once
#include "dsp.h"
#include <stdint.h>

/* What a row of a depthwise 3x3 is given. */
typedef struct {
    const uint32_t *ring; /* of one channel: pairs of neighbours, of three rows in turn */
    const uint32_t *taps; /* of one channel, in the order of the ring: ten words */
    const int32_t *parameters; /* of each channel: bias, multiplier */
    uint8_t *y;
    int32_t bytes; /* of the ring that whole steps read first */
    int32_t odd; /* all bits set where one more result follows those of whole steps */
    int32_t apart; /* bytes between the rings of channels */
    int32_t above, zero_point; /* see tw_dsp_requant */
    int32_t y_step;
} tw_dsp_row;
