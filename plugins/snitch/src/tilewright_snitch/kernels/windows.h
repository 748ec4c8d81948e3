#pragma once
#include "prelude.h"
#include <stdint.h>

/* Sliding windows over an image, channels last. Steps are in elements. */
typedef struct {
    int32_t batches, rows, columns; /* of the output tile */
    int32_t in_rows, in_columns;    /* of the input tile; what lies outside is padding */
    int32_t row_taps, column_taps, row_stride, column_stride, row_dilation;
    int32_t top, left; /* padding before the input tile */
    int32_t channels, w_output;
    int32_t x_batch, x_row, x_column, y_batch, y_row, y_column;
} tw_sn_windows;

/* Taps `from` to `to` - 1 of a window that starts at `start` are inside. */
typedef struct {
    int32_t from, to;
} tw_sn_inside;

TW_KERNEL tw_sn_inside tw_sn_taps(int32_t start, int32_t taps, int32_t dilation, int32_t extent)
{
    const int32_t from = start < 0 ? (dilation - 1 - start) / dilation : 0;
    const int32_t room = extent - start;
    const int32_t to = room <= 0 ? 0 : (room - 1) / dilation + 1;
    return (tw_sn_inside){from < taps ? from : taps, to < taps ? to : taps};
}

/* Columns `from` to `to` - 1 of the output have windows that are inside. */
TW_KERNEL tw_sn_inside tw_sn_columns(const tw_sn_windows *p)
{
    const int32_t from = (p->left + p->column_stride - 1) / p->column_stride;
    const int32_t room = p->in_columns + p->left - p->column_taps;
    const int32_t to = room < 0 ? 0 : room / p->column_stride + 1;
    const tw_sn_inside found = {from < p->columns ? from : p->columns, to < p->columns ? to : p->columns};
    return found.to < found.from ? (tw_sn_inside){found.from, found.from} : found;
}
