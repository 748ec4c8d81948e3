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

/* x without its fraction, towards zero; floats of 2^23 and more have none. */
TW_KERNEL float tw_truncf(float x)
{
    if (!((x > -0x1.0p+23f) && (x < 0x1.0p+23f))) {
        return x;
    }
    const float whole = (float)(int32_t)x;
    return (whole == 0.0f) ? (x * 0.0f) : whole; /* keeps the sign of zero */
}

/* The largest integer not above x. */
TW_KERNEL float tw_floorf(float x)
{
    const float whole = tw_truncf(x);
    return (whole > x) ? (whole - 1.0f) : whole;
}

/* An image and a grid of positions in it. */
typedef struct { /* one spatial axis */
    /* elements of the image, samples of the tile */
    int32_t size;
    int32_t outputs;
    int32_t part; /* where in a coordinate this axis is; below 0: nowhere */
    /* elements between neighbours */
    int32_t x_step;
    int32_t g_step;
    int32_t y_step;
} tw_grid_axis;

typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t channels;
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t g_batch;
    int32_t y_batch;
    int32_t y_channel;
    tw_grid_axis depth;
    tw_grid_axis row;
    tw_grid_axis column;
} tw_grid_sample;

typedef struct { /* what is read along one axis for one sample */
    int32_t offset[4]; /* elements; below 0: nothing */
    float weight[4];
} tw_grid_taps;

/* A position outside thrown back at the ends, as often as it takes. */
TW_KERNEL float tw_grid_reflected(float position, float low, float high)
{
    const float span = high - low;
    if (!(span > 0.0f)) {
        return low;
    }
    const float beyond = (position < low) ? (low - position) : (position - high);
    const int32_t times = (int32_t)(beyond / span);
    const float rest = beyond - ((float)times * span);
    return ((position < low) == ((times % 2) == 0)) ? (low + rest) : (high - rest);
}

/* Where the neighbour `at` of a sample is read, in elements; below 0 for nowhere. */
TW_KERNEL int32_t tw_grid_sample_linear_zeros_offset(const tw_grid_axis *axis, int32_t at)
{
    if ((at >= 0) && (at < axis->size)) {
        return at * axis->x_step;
    }
    return -1;
}

/* Neighbours and their weights along one axis, for a coordinate from -1 to 1. */
TW_KERNEL tw_grid_taps tw_grid_sample_linear_zeros_taps(const tw_grid_axis *axis, const float *g)
{
    tw_grid_taps taps = {.offset = {0}, .weight = {1.0f}};
    if (axis->part < 0) {
        return taps;
    }
    float position = (((g[axis->part] + 1.0f) * (float)axis->size) - 1.0f) * 0.5f;
    position = (position >= -16777216.0f) ? ((position < 16777216.0f) ? position : 16777216.0f) : -16777216.0f;
    const float below = tw_floorf(position);
    const int32_t first = (int32_t)below;
    for (int32_t k = 0; k < 2; ++k) {
        taps.offset[k] = tw_grid_sample_linear_zeros_offset(axis, first + k);
    }
    taps.weight[0] = 1.0f - (position - below);
    taps.weight[1] = position - below;
    return taps;
}

/* One sample of one channel. */
TW_KERNEL float tw_grid_sample_linear_zeros_sum(const tw_grid_sample *s, const tw_grid_taps *depth,
        const tw_grid_taps *row, const tw_grid_taps *column, const float *x)
{
    float sum = 0.0f;
    for (int32_t d = 0; d < ((s->depth.part < 0) ? 1 : 2); ++d) {
        for (int32_t r = 0; r < ((s->row.part < 0) ? 1 : 2); ++r) {
            for (int32_t c = 0; c < ((s->column.part < 0) ? 1 : 2); ++c) {
                if ((depth->offset[d] >= 0) && (row->offset[r] >= 0) && (column->offset[c] >= 0)) {
                    sum += depth->weight[d] * row->weight[r] * column->weight[c]
                        * x[depth->offset[d] + row->offset[r] + column->offset[c]];
                }
            }
        }
    }
    return sum;
}

TW_KERNEL void tw_grid_sample_linear_zeros(const tw_grid_sample s, const float *x, const float *g, float *y)
{
    for (int32_t n = 0; n < s.batches; ++n) {
        for (int32_t i = 0; i < s.depth.outputs; ++i) {
            for (int32_t j = 0; j < s.row.outputs; ++j) {
                for (int32_t k = 0; k < s.column.outputs; ++k) {
                    const float *const at = g + (n * s.g_batch) + (i * s.depth.g_step) + (j * s.row.g_step)
                        + (k * s.column.g_step);
                    const tw_grid_taps depth = tw_grid_sample_linear_zeros_taps(&s.depth, at);
                    const tw_grid_taps row = tw_grid_sample_linear_zeros_taps(&s.row, at);
                    const tw_grid_taps column = tw_grid_sample_linear_zeros_taps(&s.column, at);
                    float *const yk = y + (n * s.y_batch) + (i * s.depth.y_step) + (j * s.row.y_step)
                        + (k * s.column.y_step);
                    for (int32_t c = 0; c < s.channels; ++c) {
                        yk[c * s.y_channel] = tw_grid_sample_linear_zeros_sum(&s, &depth, &row, &column,
                                                              x + (n * s.x_batch) + (c * s.x_channel));
                    }
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: GridSample
 *   nodes    gridsample_0
 *   kernel   portable.grid_sample_f32
 *   X        f32[2,5,4,6]    ram [0, 960)       gridsample_0_in0
 *   G        f32[2,13,17,2]  ram [960, 4496)    gridsample_0_in1
 *   Y        f32[2,5,13,17]  ram [4496, 13336)  gridsample_0_out0
 */
TW_STEP void net_0_gridsample(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_GRIDSAMPLE_0_IN0);
    const float *const g = (const float *)(ram + IN_GRIDSAMPLE_0_IN1);
    float *const y = (float *)(ram + GRIDSAMPLE_0_OUT);
    tw_grid_sample_linear_zeros((tw_grid_sample){
        .batches = 2, .channels = 5, .x_batch = 120, .x_channel = 24, .g_batch = 442, .y_batch = 1105, .y_channel = 221,
        .depth = {.size = 1, .outputs = 1, .part = -1},
        .row = {.size = 4, .outputs = 13, .part = 1, .x_step = 6, .g_step = 34, .y_step = 17},
        .column = {.size = 6, .outputs = 17, .part = 0, .x_step = 1, .g_step = 2, .y_step = 1},
    }, x, g, y);
}
