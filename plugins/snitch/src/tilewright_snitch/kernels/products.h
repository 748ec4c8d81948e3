#pragma once
#include <stdint.h>

/* Rows of outputs, each the product of a window of `a` and a row of weights: `runs` of `run` elements that are neighbours.
 * Steps are in elements. */
typedef struct {
    int32_t rows, outputs, run, runs;
    int32_t a_row, a_run;              /* from window to window, from run to run */
    int32_t b_output, b_run, b_element; /* from output to output, from run to run, from product to product */
    int32_t c_row, c_output, y_row, y_output;
} tw_sn_products;

/* More than once so many runs, where that is said: what is between rounds. */
typedef struct {
    int32_t rounds, a_round, b_round;
} tw_sn_rounds;

/* Where results are, and biases, of products in parts; whether this is the first part, the last part. */
typedef struct {
    int32_t first, last, c_row, c_output, y_row, y_output;
} tw_sn_results;
