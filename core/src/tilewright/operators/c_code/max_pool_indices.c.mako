#include "places.h"
#include "pool.h"
#include "prelude.h"
#include <stdint.h>

/* The largest element of one window of one channel, and its place; -1 where all is padding. */
TW_KERNEL void ${function}_window(const tw_pool *p, const tw_places *at, tw_taps depth, tw_taps row, tw_taps column,
                                  int32_t image, const ${type} *x, ${type} *y, int64_t *place)
{
    ${type} largest = ${lowest};
    int32_t found = -1;
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const int32_t d = depth.start + (kd * p->depth.dilation);
                const int32_t r = row.start + (kr * p->row.dilation);
                const int32_t c = column.start + (kc * p->column.dilation);
                const ${type} v = x[(d * p->depth.x_step) + (r * p->row.x_step) + (c * p->column.x_step)];
                if (found < 0 || v > largest${" || (v != v && largest == largest)" if floating else ""}) {
                    largest = v;
                    found = ((at->depth_origin + d) * at->depth_counted) + ((at->row_origin + r) * at->row_counted)
                        + ((at->column_origin + c) * at->column_counted);
                }
            }
        }
    }
    *y = largest;
    *place = (found < 0) ? -1 : (image + found);
}

TW_KERNEL void ${function}(const tw_pool p, const tw_places at, const ${type} *x, ${type} *y, int64_t *places)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    ${type} *const yk = y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step)
                        + (k * p.column.y_step);
                    int64_t *const place = places + (n * at.batch) + (i * at.depth_step) + (j * at.row_step)
                        + (k * at.column_step);
                    for (int32_t c = 0; c < p.channels; ++c) {
                        const int32_t image = ((at.first_batch + n) * at.all_channels) + at.first_channel + c;
                        ${function}_window(&p, &at, depth, row, column, image * at.image,
                                           x + (n * p.x_batch) + (c * p.x_channel), yk + (c * p.y_channel),
                                           place + (c * at.channel));
                    }
                }
            }
        }
    }
}
