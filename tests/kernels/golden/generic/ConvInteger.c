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

/* y = sum of (x - zero of x) * (w - zero of w) over group channels and taps, modulo 2^32; padding adds nothing. */
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
    int32_t q_output;
    tw_axis depth;
    tw_axis row;
    tw_axis column;
} tw_integer_conv_i8_i8_shape;

/* One window of one output; x and w are of its group and channel. */
TW_KERNEL uint32_t tw_integer_conv_i8_i8_window(const tw_integer_conv_i8_i8_shape *s, tw_taps depth, tw_taps row,
        tw_taps column, const int8_t *x, const int8_t *w, int32_t x_zero, int32_t w_zero)
{
    uint32_t sum = 0;
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const int8_t *const xt = x + ((depth.start + (kd * s->depth.dilation)) * s->depth.x_step)
                    + ((row.start + (kr * s->row.dilation)) * s->row.x_step)
                    + ((column.start + (kc * s->column.dilation)) * s->column.x_step);
                const int8_t *const wt = w + (kd * s->depth.w_step) + (kr * s->row.w_step) + (kc * s->column.w_step);
                for (int32_t c = 0; c < s->group_inputs; ++c) {
                    sum += (uint32_t)((xt[c * s->x_channel] - x_zero) * (wt[c * s->w_channel] - w_zero));
                }
            }
        }
    }
    return sum;
}

/* One window, every output of the tile: a group has its own inputs. */
TW_KERNEL void tw_integer_conv_i8_i8_outputs(const tw_integer_conv_i8_i8_shape *s, tw_taps depth, tw_taps row,
        tw_taps column, const int8_t *x, const int8_t *w, int32_t x_zero, const int8_t *w_zeros,
                                   int32_t *y)
{
    for (int32_t o = 0; o < s->outputs; ++o) {
        const int32_t group = ((s->first_output + o) / s->group_outputs) - (s->first_output / s->group_outputs);
        const int32_t w_zero = w_zeros ? w_zeros[o * s->q_output] : 0;
        const int8_t *const xg = x + (group * s->group_inputs * s->x_channel);
        const int32_t sum
            = (int32_t)tw_integer_conv_i8_i8_window(s, depth, row, column, xg, w + (o * s->w_output), x_zero, w_zero);
        y[o * s->y_channel] = sum;
    }
}

TW_KERNEL void tw_integer_conv_i8_i8(const tw_integer_conv_i8_i8_shape s, const int8_t *x, const int8_t *w,
        const int8_t *x_zero, const int8_t *w_zeros, int32_t *y)
{
    for (int32_t n = 0; n < s.batches; ++n) {
        for (int32_t i = 0; i < s.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&s.depth, i);
            for (int32_t j = 0; j < s.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&s.row, j);
                for (int32_t k = 0; k < s.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&s.column, k);
                    tw_integer_conv_i8_i8_outputs(&s, depth, row, column, x + (n * s.x_batch), w, x_zero ? *x_zero : 0,
                        w_zeros, y + (n * s.y_batch) + (i * s.depth.y_step) + (j * s.row.y_step)
                                            + (k * s.column.y_step));
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: ConvInteger
 *   nodes    convinteger_0
 *   kernel   portable.conv_integer
 *   X        i8[1,12,27,25]   ram [48600, 56700)  convinteger_0_in0
 *   W        i8[18,4,3,3]     flash [16, 664)     convinteger_0.W
 *   P        i8[1]            ram [56720, 56721)  convinteger_0_in2
 *   Q        i8[18]           ram [56700, 56718)  convinteger_0_in3
 *   Y        i32[1,18,27,25]  ram [0, 48600)      convinteger_0_out0
 */
TW_STEP void net_0_convinteger(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_CONVINTEGER_0_IN0);
    const int8_t *const w = (const int8_t *)(flash + CONVINTEGER_0_W);
    const int8_t *const p = (const int8_t *)(ram + IN_CONVINTEGER_0_IN2);
    const int8_t *const q = (const int8_t *)(ram + IN_CONVINTEGER_0_IN3);
    int32_t *const y = (int32_t *)(ram + CONVINTEGER_0_OUT);
    tw_integer_conv_i8_i8((tw_integer_conv_i8_i8_shape){
        .batches = 1, .outputs = 18, .group_inputs = 4, .group_outputs = 6, .first_output = 0, .x_batch = 8100,
        .x_channel = 675, .y_batch = 12150, .y_channel = 675, .w_output = 36, .w_channel = 9, .q_output = 1,
        .depth = {.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1, .counted = 1},
        .row = {.outputs = 27, .inputs = 27, .taps = 3, .stride = 1, .dilation = 1, .before = 1, .counted = 28,
            .x_step = 25, .y_step = 25, .w_step = 3},
        .column = {.outputs = 25, .inputs = 25, .taps = 3, .stride = 1, .dilation = 1, .before = 1, .counted = 26,
            .x_step = 1, .y_step = 1, .w_step = 1},
    }, x, w, p, q, y);
}
