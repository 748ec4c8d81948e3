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

/* y = clip(sum of x * w over group channels and taps, + b), one output at a time, padding skipped; NaN kept. */
typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t outputs;
    /* channels of one group */
    int32_t group_inputs;
    int32_t group_outputs;
    int32_t first_output; /* channel of the tile's first output in the whole tensor */
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t y_batch;
    int32_t y_channel;
    int32_t w_output;
    int32_t w_channel;
    tw_axis depth;
    tw_axis row;
    tw_axis column;
    float low;
    float high;
} tw_conv;

TW_KERNEL float tw_conv_clip(float value, float low, float high)
{
    return (value < low) ? low : ((value > high) ? high : value);
}

/* One window, `count` outputs of one group: blocks of four share the reads of x. */
TW_KERNEL void tw_conv_window_f32(const tw_conv *p, int32_t count, tw_taps depth, tw_taps row, tw_taps column,
                                  const float *x, const float *w, const float *b, float *y)
{
    int32_t o = 0;
    for (; (o + 4) <= count; o += 4) {
        float s0 = b ? b[o] : 0.0f;
        float s1 = b ? b[o + 1] : 0.0f;
        float s2 = b ? b[o + 2] : 0.0f;
        float s3 = b ? b[o + 3] : 0.0f;
        const float *const wo = w + (o * p->w_output);
        for (int32_t kd = depth.first; kd < depth.last; ++kd) {
            for (int32_t kr = row.first; kr < row.last; ++kr) {
                for (int32_t kc = column.first; kc < column.last; ++kc) {
                    const float *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                        + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                        + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                    const float *const w0 = wo + (kd * p->depth.w_step) + (kr * p->row.w_step)
                        + (kc * p->column.w_step);
                    const float *const w1 = w0 + p->w_output;
                    const float *const w2 = w1 + p->w_output;
                    const float *const w3 = w2 + p->w_output;
                    for (int32_t c = 0; c < p->group_inputs; ++c) {
                        const float v = xt[c * p->x_channel];
                        s0 += v * w0[c * p->w_channel];
                        s1 += v * w1[c * p->w_channel];
                        s2 += v * w2[c * p->w_channel];
                        s3 += v * w3[c * p->w_channel];
                    }
                }
            }
        }
        y[o * p->y_channel] = tw_conv_clip(s0, p->low, p->high);
        y[(o + 1) * p->y_channel] = tw_conv_clip(s1, p->low, p->high);
        y[(o + 2) * p->y_channel] = tw_conv_clip(s2, p->low, p->high);
        y[(o + 3) * p->y_channel] = tw_conv_clip(s3, p->low, p->high);
    }
    for (; o < count; ++o) {
        float sum = b ? b[o] : 0.0f;
        const float *const wo = w + (o * p->w_output);
        for (int32_t kd = depth.first; kd < depth.last; ++kd) {
            for (int32_t kr = row.first; kr < row.last; ++kr) {
                for (int32_t kc = column.first; kc < column.last; ++kc) {
                    const float *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                        + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                        + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                    const float *const wt = wo + (kd * p->depth.w_step) + (kr * p->row.w_step)
                        + (kc * p->column.w_step);
                    for (int32_t c = 0; c < p->group_inputs; ++c) {
                        sum += xt[c * p->x_channel] * wt[c * p->w_channel];
                    }
                }
            }
        }
        y[o * p->y_channel] = tw_conv_clip(sum, p->low, p->high);
    }
}

/* One window, every output of the tile: group by group, because a group has its own inputs. */
TW_KERNEL void tw_conv_groups_f32(const tw_conv *p, tw_taps depth, tw_taps row, tw_taps column, int32_t skipped,
                                  const float *x, const float *w, const float *b, float *y)
{
    int32_t left = p->group_outputs - skipped; /* outputs of the first group that the tile has */
    for (int32_t o = 0; o < p->outputs;) {
        const int32_t count = (left < (p->outputs - o)) ? left : (p->outputs - o);
        tw_conv_window_f32(p, count, depth, row, column, x, w + (o * p->w_output), b ? &b[o] : b, y
            + (o * p->y_channel));
        o += count;
        x += (o < p->outputs) ? (p->group_inputs * p->x_channel) : 0;
        left = p->group_outputs;
    }
}

TW_KERNEL void tw_conv_f32(const tw_conv p, const float *x, const float *w, const float *b, float *y)
{
    const int32_t skipped = p.first_output % p.group_outputs;
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    tw_conv_groups_f32(&p, depth, row, column, skipped, x + (n * p.x_batch), w, b,
                                       y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step)
                                           + (k * p.column.y_step));
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Conv
 *   nodes    conv_same_0
 *   kernel   portable.conv_f32
 *   X        f32[1,8,19,23]   ram [0, 13984)      conv_same_0_in0
 *   W        f32[12,3,3,8]    flash [64, 3520)    conv_same_0.W
 *   B        f32[12]          flash [16, 64)      conv_same_0.B
 *   Y        f32[1,12,19,23]  ram [13984, 34960)  conv_same_0_out0
 */
TW_STEP void net_0_conv(const uint8_t *flash, uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_CONV_SAME_0_IN0);
    const float *const w = (const float *)(flash + CONV_0_W);
    const float *const b = (const float *)(flash + CONV_0_B);
    float *const y = (float *)(ram + CONV_0_OUT);
    tw_conv_f32((tw_conv){
        .batches = 1, .outputs = 12, .group_inputs = 8, .group_outputs = 12, .first_output = 0, .x_batch = 3496,
        .x_channel = 437, .y_batch = 5244, .y_channel = 437, .w_output = 72, .w_channel = 1,
        .depth = {.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1, .counted = 1},
        .row = {.outputs = 19, .inputs = 19, .taps = 3, .stride = 1, .dilation = 1, .before = 1, .counted = 20,
            .x_step = 23, .y_step = 23, .w_step = 24},
        .column = {.outputs = 23, .inputs = 23, .taps = 3, .stride = 1, .dilation = 1, .before = 1, .counted = 24,
            .x_step = 1, .y_step = 1, .w_step = 8},
        .low = -INFINITY, .high = INFINITY,
    }, x, w, b, y);
}
