/* What the portable kernels below rely on. */
#if defined(__FAST_MATH__)
#  error "build this file without -ffast-math: results would no longer be the ones that were checked"
#endif
#ifndef TW_KERNEL /* -DTW_KERNEL='static' keeps one copy of each kernel: smaller, slower */
#  if defined(__GNUC__)
#    define TW_KERNEL static inline __attribute__((always_inline, unused))
#  else
#    define TW_KERNEL static inline
#  endif
#endif

/* Every output between its two neighbours along each axis. */
/* One spatial axis; output i of the whole tensor lies at (slope * i + offset) / divisor of the input. */
typedef struct {
    /* of this tile */
    int32_t outputs;
    int32_t first;
    int32_t slope;
    int32_t offset;
    int32_t divisor;
    int32_t last; /* of the whole input */
    int32_t origin; /* of the input tile */
    /* elements between neighbours */
    int32_t x_step;
    int32_t y_step;
} tw_line;

typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t channels;
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t y_batch;
    int32_t y_channel;
    tw_line row;
    tw_line column;
} tw_resize_linear;

typedef struct {
    /* neighbours, as elements after the tile's first */
    int32_t before;
    int32_t after;
    int32_t share; /* weight of the one after, of `divisor` */
} tw_neighbours;

TW_KERNEL tw_neighbours tw_line_at(const tw_line *line, int32_t output)
{
    const int32_t position = (line->slope * (line->first + output)) + line->offset;
    const int32_t rest = position % line->divisor;
    const int32_t below = (position / line->divisor) - ((rest < 0) ? 1 : 0);
    const int32_t low = (below < 0) ? 0 : ((below > line->last) ? line->last : below);
    const int32_t high = ((below + 1) < 0) ? 0 : (((below + 1) > line->last) ? line->last : (below + 1));
    const tw_neighbours between = {
        .before = (low - line->origin) * line->x_step,
        .after = (high - line->origin) * line->x_step,
        .share = (rest < 0) ? (rest + line->divisor) : rest,
    };
    return between;
}

TW_KERNEL float tw_mix(float one, float other, float share)
{
    return (one * (1.0f - share)) + (other * share);
}

TW_KERNEL void tw_resize_linear_f32(const tw_resize_linear p, const float *x, float *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t j = 0; j < p.row.outputs; ++j) {
            const tw_neighbours row = tw_line_at(&p.row, j);
            const float lower = (float)row.share / (float)p.row.divisor;
            for (int32_t k = 0; k < p.column.outputs; ++k) {
                const tw_neighbours column = tw_line_at(&p.column, k);
                const float right = (float)column.share / (float)p.column.divisor;
                const float *const xn = x + (n * p.x_batch);
                float *const yn = y + (n * p.y_batch) + (j * p.row.y_step) + (k * p.column.y_step);
                for (int32_t c = 0; c < p.channels; ++c) {
                    const float *const above = xn + (c * p.x_channel) + row.before;
                    const float *const below = xn + (c * p.x_channel) + row.after;
                    yn[c * p.y_channel] = tw_mix(tw_mix(above[column.before], above[column.after], right),
                                                 tw_mix(below[column.before], below[column.after], right), lower);
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: ResizeLinear
 *   nodes    resizelinear_0
 *   kernel   portable.resize_linear_f32
 *   X        f32[1,7,9,11]   ram [0, 2772)      resizelinear_0_in0
 *   Y        f32[1,7,17,29]  ram [2772, 16576)  resizelinear_0_out0
 */
TW_STEP void net_0_resizelinear(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_RESIZELINEAR_0_IN0);
    float *const y = (float *)(ram + RESIZELINEAR_0_OUT);
    tw_resize_linear_f32((tw_resize_linear){
        .batches = 1, .channels = 7, .x_batch = 693, .x_channel = 99, .y_batch = 3451, .y_channel = 493,
        .row = {.outputs = 17, .first = 0, .slope = 9, .offset = -4, .divisor = 17, .last = 8, .origin = 0,
            .x_step = 11, .y_step = 29},
        .column = {.outputs = 29, .first = 0, .slope = 10, .offset = 0, .divisor = 28, .last = 10, .origin = 0,
            .x_step = 1, .y_step = 1},
    }, x, y);
}
