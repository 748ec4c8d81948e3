#pragma once
#include "xpulp.h"

/* Which of the engine's sums a core requantises, and how. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t outputs;
    int32_t sum_column; /* sums from the pixel of one output to the next */
    int32_t sum_row;
    int32_t y_column;
    int32_t y_row;
    int32_t words;      /* of a channel in the table */
    int32_t top;        /* whether windows of the first row leave the image, and so on */
    int32_t bottom;
    int32_t left;
    int32_t right;
    int32_t shift;
    tw_xp_limits to;    /* limits less the zero point */
} tw_neureka_sums;

/* Pixels whose windows leave the image in the same way. */
typedef struct {
    int32_t lines;
    int32_t pixels;    /* of a line */
    int32_t sum_line;  /* sums from line to line */
    int32_t sum_pixel;
    int32_t y_line;
    int32_t y_pixel;
} tw_neureka_area;

/* With few long lines: of rows or of columns, or of all pixels. */
TW_KERNEL tw_neureka_area tw_neureka_area_of(const tw_neureka_sums *p, int32_t rows, int32_t columns)
{
    if ((p->sum_row == (columns * p->sum_column)) && (p->y_row == (columns * p->y_column))) {
        const tw_neureka_area whole = {1, rows * columns, 0, p->sum_column, 0, p->y_column};
        return whole;
    }
    const tw_neureka_area wide = {rows, columns, p->sum_row, p->sum_column, p->y_row, p->y_column};
    const tw_neureka_area tall = {columns, rows, p->sum_column, p->sum_row, p->y_column, p->y_row};
    return (rows > columns) ? tall : wide;
}

/* Rows (or columns) from starts[i] to starts[i + 1] are those of which the first tap is outside, none, the last one;
 * ways[i] has bit 0 for the first tap, and bit 1 for the last one. */
typedef struct {
    int32_t starts[4];
    int32_t ways[3];
} tw_neureka_cuts;

TW_KERNEL tw_neureka_cuts tw_neureka_cuts_of(int32_t extent, int32_t first, int32_t last)
{
    const int32_t both = first && last && (extent == 1);
    const int32_t behind = (last && !both) ? (extent - 1) : extent;
    const tw_neureka_cuts cuts = {{0, first ? 1 : 0, behind, extent}, {both ? 3 : 1, 0, 2}};
    return cuts;
}
