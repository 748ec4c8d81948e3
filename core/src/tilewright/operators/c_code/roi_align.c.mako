#include "roi_align.h"
#include "prelude.h"
#include <math.h>
#include <stdint.h>

/* One sample of every channel, into what the bin has so far. */
TW_KERNEL void ${function}_add(const tw_roi_align *s, tw_roi_sample row, tw_roi_sample column, const float *x, float *y,
                               int32_t is_first)
{
    for (int32_t c = 0; c < s->channels; ++c) {
        const float *const xc = x + (c * s->x_channel);
        float *const yc = y + (c * s->y_channel);
        float value = 0.0f;
        if ((row.low >= 0) && (column.low >= 0)) {
            const float a = (1.0f - row.above) * (1.0f - column.above) * xc[row.low + column.low];
            const float b = (1.0f - row.above) * column.above * xc[row.low + column.high];
            const float d = row.above * (1.0f - column.above) * xc[row.high + column.low];
            const float e = row.above * column.above * xc[row.high + column.high];
% if mode == "avg":
            value = a + b + d + e;
        }
        *yc = is_first ? value : (*yc + value);
% else:
            value = (a > b) ? a : b;
            value = (value > d) ? value : d;
            value = (value > e) ? value : e;
        }
        *yc = (is_first || (value > *yc)) ? value : *yc;
% endif
    }
}

/* One bin of one region. */
TW_KERNEL void ${function}_bin(const tw_roi_align *s, const tw_roi_span *rows, const tw_roi_span *columns, int32_t i,
                               int32_t j, const float *x, float *y)
{
    if ((rows->samples < 1) || (columns->samples < 1)) {
        for (int32_t c = 0; c < s->channels; ++c) {
            y[c * s->y_channel] = 0.0f;
        }
        return;
    }
    for (int32_t k = 0; k < rows->samples; ++k) {
        const tw_roi_sample row = tw_roi_found(&s->row, rows, i, k);
        for (int32_t l = 0; l < columns->samples; ++l) {
            ${function}_add(s, row, tw_roi_found(&s->column, columns, j, l), x, y, (k + l) == 0);
        }
    }
% if mode == "avg":
    for (int32_t c = 0; c < s->channels; ++c) {
        y[c * s->y_channel] /= (float)(rows->samples * columns->samples);
    }
% endif
}

TW_KERNEL void ${function}(const tw_roi_align s, const float *x, const float *b, const int64_t *images, float *y)
{
    for (int32_t r = 0; r < s.regions; ++r) {
        const int64_t given = images[r * s.i_step];
        const int32_t image = (given < 0) ? 0 : ((given < s.images) ? (int32_t)given : (s.images - 1));
        const float *const region = b + (r * s.b_region);
        const tw_roi_span columns = tw_roi_spanned(&s, s.column.bins, region[0], region[2 * s.b_part], ${offset});
        const tw_roi_span rows
            = tw_roi_spanned(&s, s.row.bins, region[s.b_part], region[3 * s.b_part], ${offset});
        for (int32_t i = 0; i < s.row.outputs; ++i) {
            for (int32_t j = 0; j < s.column.outputs; ++j) {
                ${function}_bin(&s, &rows, &columns, i, j, x + (image * s.x_image),
                                y + (r * s.y_region) + (i * s.row.y_step) + (j * s.column.y_step));
            }
        }
    }
}
