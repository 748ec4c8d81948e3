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

/* Sliding windows over a tile: which taps of a window lie inside it. */
typedef struct { /* one spatial axis; positions count from the tile's first element */
    int32_t outputs; /* windows in this tile */
    int32_t inputs; /* elements in this tile: everything before 0 and from here on is padding */
    int32_t taps;
    int32_t stride;
    int32_t dilation;
    int32_t before; /* padding before the tile's first element, up to the first window's start */
    int32_t counted; /* AveragePool with count_include_pad: positions below this one count */
    /* elements between neighbours */
    int32_t x_step;
    int32_t y_step;
    int32_t w_step;
} tw_axis;

typedef struct {
    int32_t start; /* position of tap 0 */
    /* taps first .. last - 1 lie inside */
    int32_t first;
    int32_t last;
} tw_taps;

/* Taps of a window at `start` that lie below position `end`. */
TW_KERNEL int32_t tw_taps_below(const tw_axis *axis, int32_t start, int32_t end)
{
    const int32_t room = end - start;
    const int32_t taps = (room <= 0) ? 0 : ((axis->dilation == 1) ? room : (((room - 1) / axis->dilation) + 1));
    return (taps < axis->taps) ? taps : axis->taps;
}

TW_KERNEL tw_taps tw_taps_inside(const tw_axis *axis, int32_t output)
{
    const int32_t start = (output * axis->stride) - axis->before;
    const tw_taps taps = {
        .start = start,
        .first = tw_taps_below(axis, start, 0),
        .last = tw_taps_below(axis, start, axis->inputs),
    };
    return taps;
}

/* What a pool is called with. */
typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t channels;
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t y_batch;
    int32_t y_channel;
    tw_axis depth;
    tw_axis row;
    tw_axis column;
} tw_pool;

/* The largest element of one window, channel by channel; the lowest value where all is padding; NaN stays NaN. */
TW_KERNEL void tw_max_window_f32(const tw_pool *p, tw_taps depth, tw_taps row, tw_taps column, const float *x,
                                  float *y)
{
    for (int32_t c = 0; c < p->channels; ++c) {
        y[c * p->y_channel] = -INFINITY;
    }
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const float *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                    + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                    + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                for (int32_t c = 0; c < p->channels; ++c) {
                    const float v = xt[c * p->x_channel];
                    const float largest = y[c * p->y_channel];
                    y[c * p->y_channel] = ((v > largest) || (v != v)) ? v : largest;
                }
            }
        }
    }
}

TW_KERNEL void tw_max_pool_f32(const tw_pool p, const float *x, float *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    tw_max_window_f32(&p, depth, row, column, x + (n * p.x_batch),
                                       y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step)
                                           + (k * p.column.y_step));
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: MaxPool
 *   nodes    maxpool_0
 *   kernel   portable.max_pool
 *   X        f32[1,8,19,23]  ram [0, 13984)      maxpool_0_in0
 *   Y        f32[1,8,10,8]   ram [13984, 16544)  maxpool_0_out0
 */
TW_STEP void net_0_maxpool(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_MAXPOOL_0_IN0);
    float *const y = (float *)(ram + MAXPOOL_0_OUT);
    tw_max_pool_f32((tw_pool){
        .batches = 1, .channels = 8, .x_batch = 3496, .x_channel = 437, .y_batch = 640, .y_channel = 80,
        .depth = {.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1, .counted = 1},
        .row = {.outputs = 10, .inputs = 19, .taps = 3, .stride = 2, .dilation = 2, .before = 2, .counted = 21,
            .x_step = 23, .y_step = 8, .w_step = 0},
        .column = {.outputs = 8, .inputs = 22, .taps = 2, .stride = 3, .dilation = 1, .before = 1, .counted = 23,
            .x_step = 1, .y_step = 1, .w_step = 0},
    }, x, y);
}
