#include "prelude.h"

/* A tile of X and of Y, [N, C/16, H, W, 16]. */
typedef struct {
    int32_t batches, outputs, rows, columns, in_rows, in_columns, top, left;
    int32_t x_batch, x_group, x_row, x_column, y_batch, y_group, y_row, y_column;
    int32_t row_taps, column_taps, row_stride, column_stride, row_dilation, column_dilation;
    int32_t inputs, zero_point, border, low, high, y_zero_point;
} acme_image;

/* The sixteen channels of X under a tap, or null where that is outside. */
TW_KERNEL const int8_t *acme_under(const acme_image *at, const int8_t *x, int32_t i, int32_t j, int32_t p, int32_t q)
{
    const int32_t row = i * at->row_stride + p * at->row_dilation - at->top;
    const int32_t column = j * at->column_stride + q * at->column_dilation - at->left;
    const int inside = row >= 0 && row < at->in_rows && column >= 0 && column < at->in_columns;
    return inside ? x + row * at->x_row + column * at->x_column : 0;
}
