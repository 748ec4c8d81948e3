<%doc> Needs function, sign ("s" or "u", of x). </%doc>\
#include "mve.h"
#include "pool_windows.h"

/* Up to sixteen channels of one window that has at least one position inside. */
TW_KERNEL void ${function}_window(const uint8_t *x, uint8_t *y, int32_t channels, int32_t rows, int32_t columns,
        int32_t column_step, int32_t row_step)
{
#ifdef TW_MVE_ARM
    const int32_t gap = row_step - (columns * column_step);
    __asm__ volatile(
        "vctp.8 %[channels]\n\t"
        "vpst\n\t"
        "vldrbt.u8 q0, [%[x]]\n\t"
        "1:\n\t"
        "dls lr, %[columns]\n\t"
        "2:\n\t"
        "vpst\n\t"
        "vldrbt.u8 q1, [%[x]]\n\t"
        "vmax.${sign}8 q0, q0, q1\n\t"
        "add %[x], %[x], %[column_step]\n\t"
        "le lr, 2b\n\t"
        "add %[x], %[x], %[gap]\n\t"
        "subs %[rows], %[rows], #1\n\t"
        "bne 1b\n\t"
        "vpst\n\t"
        "vstrbt.8 q0, [%[y]]"
        : [x] "+&r"(x), [rows] "+&r"(rows)
        : [y] "r"(y), [channels] "r"(channels), [columns] "r"(columns), [column_step] "r"(column_step), [gap] "r"(gap)
        : "lr", "q0", "q1", "cc", "memory");
#else
    for (int32_t c = 0; c < channels; ++c) {
        int32_t largest = ${-128 if sign == "s" else 0};
        for (int32_t i = 0; i < rows; ++i) {
            for (int32_t j = 0; j < columns; ++j) {
                const void *const at = x + (i * row_step) + (j * column_step) + c;
                const int32_t v = *(const ${"int8_t" if sign == "s" else "uint8_t"} *)at;
                largest = (v > largest) ? v : largest;
            }
        }
        y[c] = (uint8_t)largest;
    }
#endif
}

/* The largest value of every window, sixteen channels at a time; the lowest of the type where all is padding. */
TW_KERNEL void ${function}(const tw_windows p, const uint8_t *x, uint8_t *y)
{
    for (int32_t i = 0; i < p.out_height; ++i) {
        const tw_inside rows = tw_inside_of((i * p.row_stride) - p.top, p.rows, p.row_dilation, p.height);
        for (int32_t j = 0; j < p.out_width; ++j) {
            const tw_inside columns = tw_inside_of((j * p.column_stride) - p.left, p.columns, p.column_dilation, p.width);
            const uint8_t *const from = x + (rows.first * p.x_row) + (columns.first * p.channels);
            if ((rows.count > 0) && (columns.count > 0)) {
                for (int32_t c = 0; c < p.channels; c += 16) {
                    ${function}_window(from + c, y + c, ((p.channels - c) < 16) ? (p.channels - c) : 16, rows.count,
                        columns.count, p.column_dilation * p.channels, p.row_dilation * p.x_row);
                }
            } else {
                tw_mve_fill((int8_t *)y, ${-128 if sign == "s" else 0}, p.channels);
            }
            y += p.channels;
        }
        y += p.y_row - (p.out_width * p.channels);
    }
}
