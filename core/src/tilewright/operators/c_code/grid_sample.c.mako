#include "functions/tw_floorf.h"
#include "grid_sample.h"
#include "prelude.h"
#include <math.h>
#include <stdint.h>

<%
    low, high = ("0.0f", "(float)(axis->size - 1)") if align else ("-0.5f", "(float)axis->size - 0.5f")
%>\
/* Where the neighbour `at` of a sample is read, in elements; below 0 for nowhere. */
TW_KERNEL int32_t ${function}_offset(const tw_grid_axis *axis, int32_t at)
{
    if ((at >= 0) && (at < axis->size)) {
        return at * axis->x_step;
    }
% if padding == "zeros":
    return -1;
% elif padding == "border":
    return (at < 0) ? 0 : ((axis->size - 1) * axis->x_step);
% else:
    const int32_t back = (int32_t)tw_grid_reflected((float)at, ${low}, ${high});
    return ((back < 0) ? 0 : ((back < axis->size) ? back : (axis->size - 1))) * axis->x_step;
% endif
}

/* Neighbours and their weights along one axis, for a coordinate from -1 to 1. */
TW_KERNEL tw_grid_taps ${function}_taps(const tw_grid_axis *axis, const float *g)
{
    tw_grid_taps taps = {.offset = {0}, .weight = {1.0f}};
    if (axis->part < 0) {
        return taps;
    }
% if align:
    float position = (g[axis->part] + 1.0f) * (float)(axis->size - 1) * 0.5f;
% else:
    float position = (((g[axis->part] + 1.0f) * (float)axis->size) - 1.0f) * 0.5f;
% endif
    position = (position >= -16777216.0f) ? ((position < 16777216.0f) ? position : 16777216.0f) : -16777216.0f;
% if mode == "nearest":
    position = tw_roundf(position);
% endif
% if padding == "border":
    if ((position < ${low}) || (position > ${high})) {
        position = (position < 0.0f) ? 0.0f : (float)(axis->size - 1);
    }
% elif padding == "reflection":
    if ((position < ${low}) || (position > ${high})) {
        position = tw_grid_reflected(position, ${low}, ${high});
    }
% endif
    const float below = tw_floorf(position);
    const int32_t first = (int32_t)below${" - 1" if mode == "cubic" else ""};
    for (int32_t k = 0; k < ${taps}; ++k) {
        taps.offset[k] = ${function}_offset(axis, first + k);
    }
% if mode == "linear":
    taps.weight[0] = 1.0f - (position - below);
    taps.weight[1] = position - below;
% elif mode == "cubic":
    for (int32_t k = 0; k < 4; ++k) {
        const float d = fabsf(position - below - (float)(k - 1));
        taps.weight[k] = ((k == 1) || (k == 2)) ? ((((1.25f * d) - 2.25f) * d * d) + 1.0f)
                                          : ((((((-0.75f * d) + 3.75f) * d) - 6.0f) * d) + 3.0f);
    }
% endif
    return taps;
}

/* One sample of one channel. */
TW_KERNEL float ${function}_sum(const tw_grid_sample *s, const tw_grid_taps *depth, const tw_grid_taps *row,
                                const tw_grid_taps *column, const float *x)
{
    float sum = 0.0f;
    for (int32_t d = 0; d < ((s->depth.part < 0) ? 1 : ${taps}); ++d) {
        for (int32_t r = 0; r < ((s->row.part < 0) ? 1 : ${taps}); ++r) {
            for (int32_t c = 0; c < ((s->column.part < 0) ? 1 : ${taps}); ++c) {
                if ((depth->offset[d] >= 0) && (row->offset[r] >= 0) && (column->offset[c] >= 0)) {
                    sum += depth->weight[d] * row->weight[r] * column->weight[c]
                        * x[depth->offset[d] + row->offset[r] + column->offset[c]];
                }
            }
        }
    }
    return sum;
}

TW_KERNEL void ${function}(const tw_grid_sample s, const float *x, const float *g, float *y)
{
    for (int32_t n = 0; n < s.batches; ++n) {
        for (int32_t i = 0; i < s.depth.outputs; ++i) {
            for (int32_t j = 0; j < s.row.outputs; ++j) {
                for (int32_t k = 0; k < s.column.outputs; ++k) {
                    const float *const at = g + (n * s.g_batch) + (i * s.depth.g_step) + (j * s.row.g_step)
                        + (k * s.column.g_step);
                    const tw_grid_taps depth = ${function}_taps(&s.depth, at);
                    const tw_grid_taps row = ${function}_taps(&s.row, at);
                    const tw_grid_taps column = ${function}_taps(&s.column, at);
                    float *const yk = y + (n * s.y_batch) + (i * s.depth.y_step) + (j * s.row.y_step)
                        + (k * s.column.y_step);
                    for (int32_t c = 0; c < s.channels; ++c) {
                        yk[c * s.y_channel] = ${function}_sum(&s, &depth, &row, &column,
                                                              x + (n * s.x_batch) + (c * s.x_channel));
                    }
                }
            }
        }
    }
}
