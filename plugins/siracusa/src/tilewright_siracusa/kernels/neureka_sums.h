#pragma once
#include "xpulp.h"

/* Which of the engine's sums a core requantises, and how. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t outputs;
    int32_t stride;     /* rows and columns of sums from one output to the next */
    int32_t sum_column; /* sums from pixel to pixel */
    int32_t sum_row;
    int32_t y_column;
    int32_t y_row;
    int32_t words;      /* of a channel in the table of biases */
    int32_t first_row;  /* of the image, where windows begin: negative outside */
    int32_t first_column;
    int32_t last_row;   /* beyond which windows leave the image */
    int32_t last_column;
    int32_t shift;
    tw_xp_limits to;
} tw_neureka_sums;
