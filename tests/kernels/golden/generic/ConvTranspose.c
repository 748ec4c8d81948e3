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

/* y = sum over inputs, taps and group channels of x * w, + b, each output gathered from the taps that reach it. */
typedef struct { /* one spatial axis */
    int32_t outputs; /* positions in this tile */
    int32_t first; /* of the tile's first output, padding added: input q reaches q * stride + t * dilation by tap t */
    /* elements of the input tile, and where it begins */
    int32_t inputs;
    int32_t origin;
    int32_t taps;
    int32_t stride;
    int32_t dilation;
    /* elements between neighbours */
    int32_t x_step;
    int32_t y_step;
    int32_t s_step;
    int32_t w_step;
} tw_spread;

typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t outputs;
    /* channels of one group; of the inputs those in this tile */
    int32_t group_inputs;
    int32_t group_outputs;
    int32_t first_output; /* channel of the tile's first output in the whole tensor */
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t x_group;
    int32_t y_batch;
    int32_t y_channel;
    int32_t s_batch;
    int32_t s_channel;
    int32_t w_output;
    int32_t w_channel;
    int32_t w_group;
    int32_t w_first; /* channel of the weights' first output, counted as theirs are */
    /* sums begin, sums are complete */
    int32_t first;
    int32_t last;
    tw_spread depth;
    tw_spread row;
    tw_spread column;
} tw_conv_transpose;

/* The input in this tile that reaches an output through a tap; -1 where there is none. */
TW_KERNEL int32_t tw_spread_from(const tw_spread *axis, int32_t output, int32_t tap)
{
    const int32_t distance = axis->first + output - (tap * axis->dilation);
    if ((distance < 0) || ((distance % axis->stride) != 0)) {
        return -1;
    }
    const int32_t at = (distance / axis->stride) - axis->origin;
    return (at < axis->inputs) ? at : -1;
}

/* What one input position adds to every output channel of one position, through one tap. */
TW_KERNEL void tw_conv_transpose_tap_f32(const tw_conv_transpose *p, const float *x, const float *w, float *sums)
{
    for (int32_t o = 0; o < p->outputs; ++o) {
        const int32_t group = (p->first_output + o) / p->group_outputs;
        const int32_t beyond = group - (p->first_output / p->group_outputs); /* groups after the tile's first */
        const int32_t inside = (p->first_output + o) % p->group_outputs;
        const float *const wo = w + (beyond * p->w_group) + ((inside - p->w_first) * p->w_output);
        const float *const xo = x + (beyond * p->x_group);
        float sum = 0.0f;
        for (int32_t c = 0; c < p->group_inputs; ++c) {
            sum += xo[c * p->x_channel] * wo[c * p->w_channel];
        }
        sums[o * p->s_channel] += sum;
    }
}

/* `sums` has the tile's outputs as they grow: y itself where everything is computed at once. */
TW_KERNEL void tw_conv_transpose_position_f32(const tw_conv_transpose *p, int32_t i, int32_t j, int32_t k,
                                              const float *x, const float *w, const float *b, float *sums, float *y)
{
    for (int32_t o = 0; p->first && (o < p->outputs); ++o) {
        sums[o * p->s_channel] = 0.0f;
    }
    for (int32_t kd = 0; kd < p->depth.taps; ++kd) {
        const int32_t depth = tw_spread_from(&p->depth, i, kd);
        for (int32_t kr = 0; (depth >= 0) && (kr < p->row.taps); ++kr) {
            const int32_t row = tw_spread_from(&p->row, j, kr);
            for (int32_t kc = 0; (row >= 0) && (kc < p->column.taps); ++kc) {
                const int32_t column = tw_spread_from(&p->column, k, kc);
                if (column >= 0) {
                    tw_conv_transpose_tap_f32(
                        p, x + (depth * p->depth.x_step) + (row * p->row.x_step) + (column * p->column.x_step),
                        w + (kd * p->depth.w_step) + (kr * p->row.w_step) + (kc * p->column.w_step), sums);
                }
            }
        }
    }
    for (int32_t o = 0; p->last && (o < p->outputs); ++o) {
        y[o * p->y_channel] = sums[o * p->s_channel] + (b ? b[o] : 0.0f);
    }
}

TW_KERNEL void tw_conv_transpose_f32(const tw_conv_transpose p, const float *x, const float *w, const float *b,
                                     float *s, float *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    tw_conv_transpose_position_f32(
                        &p, i, j, k, x + (n * p.x_batch), w, b,
                        s + (n * p.s_batch) + (i * p.depth.s_step) + (j * p.row.s_step) + (k * p.column.s_step),
                        y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step) + (k * p.column.y_step));
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: ConvTranspose
 *   nodes    convtranspose_0
 *   kernel   portable.conv_transpose_f32
 *   X        f32[1,12,11,13]  ram [0, 6864)      convtranspose_0_in0
 *   W        f32[6,4,3,12]    flash [40, 3496)   convtranspose_0.W
 *   B        f32[6]           flash [16, 40)     convtranspose_0.B
 *   Y        f32[1,6,22,38]   ram [6864, 26928)  convtranspose_0_out0
 */
TW_STEP void net_0_convtranspose(const uint8_t *flash, uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_CONVTRANSPOSE_0_IN0);
    const float *const w = (const float *)(flash + CONVTRANSPOSE_0_W);
    const float *const b = (const float *)(flash + CONVTRANSPOSE_0_B);
    float *const y = (float *)(ram + CONVTRANSPOSE_0_OUT);
    tw_conv_transpose_f32((tw_conv_transpose){
        .batches = 1, .outputs = 6, .group_inputs = 12, .group_outputs = 6, .first_output = 0, .x_batch = 1716,
        .x_channel = 143, .x_group = 1716, .y_batch = 5016, .y_channel = 836, .s_batch = 5016, .s_channel = 836,
        .w_output = 144, .w_channel = 1, .w_group = 864, .w_first = 0 % 6, .first = 1, .last = 1,
        .depth = {.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1},
        .row = {.outputs = 22, .first = 0 + 1, .inputs = 11, .origin = 0, .taps = 4, .stride = 2, .dilation = 1,
            .x_step = 13, .y_step = 38, .s_step = 38, .w_step = 36},
        .column = {.outputs = 38, .first = 0, .inputs = 13, .origin = 0, .taps = 3, .stride = 3, .dilation = 1,
            .x_step = 1, .y_step = 1, .s_step = 1, .w_step = 12},
    }, x, w, b, y, y);
}
