#pragma once
#include "dsp.h"
#include <stdint.h>

/* What a block is given. */
typedef struct {
    /* widened values, four of each column in turn */
    const uint32_t *columns;
    const uint32_t *end;
    const uint32_t *w; /* four bytes of each channel of a block in turn */
    const int32_t *parameters; /* of each block: biases, then multipliers */
    uint8_t *y;
    int32_t apart; /* bytes between the results of neighbouring columns */
    int32_t blocks;
    /* see tw_dsp_requant */
    int32_t above;
    int32_t zero_point;
    int32_t more[3]; /* added to the sums of each column, where the columns differ */
} tw_dsp_block;
