#pragma once
#include <stdint.h>

/* What a block is given. */
typedef struct {
    /* values of two pixels, in one run each */
    const int8_t *x;
    const int8_t *other;
    const int8_t *w; /* sixteen of each channel of a block in turn, then what is left of each */
    const int32_t *parameters; /* of each block: four biases, then four scales as they are stored */
    uint8_t *y;
    int32_t apart; /* bytes between the results of the two */
    int32_t blocks;
    int32_t steps; /* trips of the inner loop */
    int32_t zero_point;
    int32_t more[2]; /* added to the sums of each pixel, where the pixels differ */
} tw_mve_block;
