#pragma once
#include "prelude.h"
#include <stdint.h>

/* Sliding windows over an image, channels last. Steps are in elements. */
typedef struct {
    /* of the output tile */
    int32_t batches;
    int32_t rows;
    int32_t columns;
    /* of the input tile; what lies outside is padding */
    int32_t in_rows;
    int32_t in_columns;
    int32_t row_taps;
    int32_t column_taps;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t column_dilation;
    /* padding before the input tile */
    int32_t top;
    int32_t left;
    int32_t channels;
    int32_t w_output; /* from output to output; where each channel is its own output, from tap to tap */
    int32_t x_batch;
    int32_t x_row;
    int32_t x_column;
    int32_t y_batch;
    int32_t y_row;
    int32_t y_column;
} tw_sn_windows;

/* From `from` to `to` - 1. */
typedef struct {
    int32_t from;
    int32_t to;
} tw_sn_inside;

/* Rounded up; a division takes twenty cycles, and mostly `by` is 1. */
TW_KERNEL int32_t tw_sn_over(int32_t length, int32_t by)
{
    return (by == 1) ? length : ((length + by - 1) / by);
}

/* The taps of a window that starts at `start` which are inside. */
TW_KERNEL tw_sn_inside tw_sn_taps(int32_t start, int32_t taps, int32_t dilation, int32_t extent)
{
    const int32_t from = (start < 0) ? tw_sn_over(-start, dilation) : 0;
    const int32_t to = (extent > start) ? tw_sn_over(extent - start, dilation) : 0;
    return (tw_sn_inside){(from < taps) ? from : taps, (to < taps) ? to : taps};
}

/* The columns of the output whose windows are inside. */
TW_KERNEL tw_sn_inside tw_sn_columns(const tw_sn_windows *p)
{
    const int32_t from = tw_sn_over(p->left, p->column_stride);
    const int32_t room = p->in_columns + p->left - ((p->column_taps - 1) * p->column_dilation);
    const int32_t to = (room <= 0) ? 0 : tw_sn_over(room, p->column_stride);
    const tw_sn_inside found = {(from < p->columns) ? from : p->columns, (to < p->columns) ? to : p->columns};
    return (found.to < found.from) ? (tw_sn_inside){found.from, found.from} : found;
}

/* Sums that are kept from one part of the channels to the next; outputs are neighbours. Steps are in elements. */
typedef struct {
    /* whether this is the first part, the last part */
    int32_t first;
    int32_t last;
    int32_t batch;
    int32_t row;
    int32_t column;
    int32_t w_tap; /* from tap to tap of the weights that are there */
} tw_sn_sums;
