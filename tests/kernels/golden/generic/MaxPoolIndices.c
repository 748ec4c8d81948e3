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

/* Where the elements of a tile are in the whole tensor, and where their places are written. */
typedef struct {
    /* of the tile; channels and elements of a whole image */
    int32_t first_batch;
    int32_t first_channel;
    int32_t all_channels;
    int32_t image;
    /* places between neighbours */
    int32_t batch;
    int32_t channel;
    /* of the tile's first element */
    int32_t depth_origin;
    int32_t row_origin;
    int32_t column_origin;
    /* what one position counts */
    int32_t depth_counted;
    int32_t row_counted;
    int32_t column_counted;
    /* places between neighbours */
    int32_t depth_step;
    int32_t row_step;
    int32_t column_step;
} tw_places;

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

/* The largest element of one window of one channel, and its place; -1 where all is padding. */
TW_KERNEL void tw_max_pool_indices_f32_window(const tw_pool *p, const tw_places *at, tw_taps depth, tw_taps row,
        tw_taps column, int32_t image, const float *x, float *y, int64_t *place)
{
    float largest = -INFINITY;
    int32_t found = -1;
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const int32_t d = depth.start + (kd * p->depth.dilation);
                const int32_t r = row.start + (kr * p->row.dilation);
                const int32_t c = column.start + (kc * p->column.dilation);
                const float v = x[(d * p->depth.x_step) + (r * p->row.x_step) + (c * p->column.x_step)];
                if (found < 0 || v > largest || (v != v && largest == largest)) {
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

TW_KERNEL void tw_max_pool_indices_f32(const tw_pool p, const tw_places at, const float *x, float *y, int64_t *places)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    float *const yk = y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step)
                        + (k * p.column.y_step);
                    int64_t *const place = places + (n * at.batch) + (i * at.depth_step) + (j * at.row_step)
                        + (k * at.column_step);
                    for (int32_t c = 0; c < p.channels; ++c) {
                        const int32_t image = ((at.first_batch + n) * at.all_channels) + at.first_channel + c;
                        tw_max_pool_indices_f32_window(&p, &at, depth, row, column, image * at.image,
                                           x + (n * p.x_batch) + (c * p.x_channel), yk + (c * p.y_channel),
                                           place + (c * at.channel));
                    }
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: MaxPoolIndices
 *   nodes    maxpoolindices_0
 *   kernel   portable.max_pool_indices
 *   X        f32[1,8,19,23]  ram [0, 13984)      maxpoolindices_0_in0
 *   Y        f32[1,8,10,8]   ram [13984, 16544)  maxpoolindices_0_out0
 *   I        i64[1,8,10,8]   ram [16544, 21664)  maxpoolindices_0_out1
 */
TW_STEP void net_0_maxpoolindices(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_MAXPOOLINDICES_0_IN0);
    float *const y = (float *)(ram + MAXPOOLINDICES_0_OUT);
    int64_t *const i_x = (int64_t *)(ram + MAXPOOLINDICES_0_OUT_I);
    tw_max_pool_indices_f32((tw_pool){
        .batches = 1, .channels = 8, .x_batch = 3496, .x_channel = 437, .y_batch = 640, .y_channel = 80,
        .depth = {.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1, .counted = 1},
        .row = {.outputs = 10, .inputs = 19, .taps = 3, .stride = 2, .dilation = 2, .before = 2, .counted = 21,
            .x_step = 23, .y_step = 8, .w_step = 0},
        .column = {.outputs = 8, .inputs = 22, .taps = 2, .stride = 3, .dilation = 1, .before = 1, .counted = 23,
            .x_step = 1, .y_step = 1, .w_step = 0},
    }, (tw_places){
        .first_batch = 0, .first_channel = 0, .all_channels = 8, .image = 437, .batch = 640, .channel = 80,
        .depth_origin = 0, .row_origin = 0, .column_origin = 0, .depth_counted = 0, .row_counted = 23,
        .column_counted = 1, .depth_step = 0, .row_step = 8, .column_step = 1,
    }, x, y, i_x);
}
