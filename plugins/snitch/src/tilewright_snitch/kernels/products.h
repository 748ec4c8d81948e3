#pragma once
#include <stdint.h>

/* Rows of outputs, each the product of a window of `a` and a row of weights: `runs` of `run` elements that are
 * neighbours. Steps are in elements. */
typedef struct {
    int32_t rows;
    int32_t outputs;
    int32_t run;
    int32_t runs;
    /* from window to window, from run to run */
    int32_t a_row;
    int32_t a_run;
    /* from output to output, from run to run, from product to product */
    int32_t b_output;
    int32_t b_run;
    int32_t b_element;
    int32_t c_row;
    int32_t c_output;
    int32_t y_row;
    int32_t y_output;
} tw_sn_products;

/* More than once so many runs, where that is said: what is between rounds. */
typedef struct {
    int32_t rounds;
    int32_t a_round;
    int32_t b_round;
} tw_sn_rounds;

/* Where results are, and biases, of products in parts; whether this is the first part, the last part. */
typedef struct {
    int32_t first;
    int32_t last;
    int32_t c_row;
    int32_t c_output;
    int32_t y_row;
    int32_t y_output;
} tw_sn_results;
