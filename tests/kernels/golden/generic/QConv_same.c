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

/* An integer accumulator becomes a value of 8 or 16 bits: clamp(rne((float)acc * scale) + zero_point, low, high). */
typedef struct {
    int32_t shift;
    int32_t zero_point;
    int32_t low;
    int32_t high;
    /* whether any channel of the layer uses this form */
    int32_t fixed;
    int32_t exact;
} tw_requant;

/* (acc * multiplier + half) >> shift, proved equal to the formula at compile time for every accumulator that can occur.
 * Adding 2^62 keeps the dividend positive, where >> is defined; it is taken away again with the zero point. */
TW_KERNEL int32_t tw_requant_fixed(int64_t product, tw_requant p)
{
    const uint64_t above = (UINT64_C(1) << 62) + (UINT64_C(1) << (p.shift - 1));
    const uint64_t shifted = ((uint64_t)product + above) >> p.shift;
    if (p.shift >= 33) { /* fits: 32-bit arithmetic from here */
        const int32_t q = (int32_t)shifted - ((int32_t)1 << ((62 - p.shift) & 31)) + p.zero_point;
        return (q < p.low) ? p.low : ((q > p.high) ? p.high : q);
    }
    const int64_t q = (int64_t)shifted - (INT64_C(1) << (62 - p.shift)) + p.zero_point;
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : (int32_t)q);
}

/* clamp(rne(v), low, high), the limits below 2^22. Adding 3 * 2^22 leaves no bit for a fraction: the addition rounds,
 * to nearest even, and the integer is in the low bits of the sum. A target may bring its own. */
#ifndef TW_ROUND_CLAMPED
TW_KERNEL int32_t tw_round_clamped(float v, int32_t low, int32_t high)
{
    const float least = (float)low;
    const float most = (float)high;
    const float inside = (v < least) ? least : ((v > most) ? most : v);
    const union { float value; int32_t bits; } sum = {.value = inside + 12582912.0f};
    return sum.bits - INT32_C(0x4b400000);
}
#  define TW_ROUND_CLAMPED tw_round_clamped
#endif

/* The formula itself. */
TW_KERNEL int32_t tw_requant_exact(float acc, int32_t word, tw_requant p)
{
    const union { uint32_t bits; float value; } scale = {.bits = (uint32_t)word & UINT32_C(0x7fffffff)};
    return TW_ROUND_CLAMPED(acc * scale.value, p.low - p.zero_point, p.high - p.zero_point) + p.zero_point;
}

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
    tw_axis depth;
    tw_axis row;
    tw_axis column;
    /* what a position outside counts for: pad_value - x_zero_point */
    int32_t x_zero_point;
    int32_t padding;
    /* whether the taps of a row are a single run of products; elements of x between them */
    int32_t joined;
    int32_t step;
    tw_requant requant;
} tw_qconv;

/* `word` is the multiplier, or with the sign bit set the bits of the scale. */
TW_KERNEL int32_t tw_requant_int32(int32_t acc, int32_t word, tw_requant p)
{
    if (p.fixed && (!p.exact || (word >= 0))) {
        return tw_requant_fixed((int64_t)acc * word, p);
    }
    return tw_requant_exact((float)acc, word, p);
}

/* Sums of (x - x_zero_point) * (w - w_zero_point), added to the accumulators of one or of four outputs. */
typedef struct {
    int32_t count; /* products */
    /* elements between the factors of successive products */
    int32_t x_step;
    int32_t w_step;
    /* elements between the factors of successive outputs */
    int32_t x_apart;
    int32_t w_apart;
    int32_t x_zero_point;
    const int32_t *w_zero_points; /* one per output; null where all are zero */
} tw_dot_i8_i8_acc32;

TW_KERNEL void tw_dot_i8_i8_acc32_1(tw_dot_i8_i8_acc32 p, const int8_t *x, const int8_t *w, int32_t *acc)
{
    const int32_t z0 = p.w_zero_points ? p.w_zero_points[0] : 0;
    int32_t sum = acc[0];
    for (int32_t i = 0; i < p.count; ++i) {
        sum += (x[i * p.x_step] - p.x_zero_point) * (w[i * p.w_step] - z0);
    }
    acc[0] = sum;
}

TW_KERNEL void tw_dot_i8_i8_acc32_4(tw_dot_i8_i8_acc32 p, const int8_t *x, const int8_t *w, int32_t *acc)
{
    const int32_t *const z = p.w_zero_points;
    const int32_t z0 = z ? z[0] : 0;
    const int32_t z1 = z ? z[1] : 0;
    const int32_t z2 = z ? z[2] : 0;
    const int32_t z3 = z ? z[3] : 0;
    int32_t sum0 = acc[0];
    int32_t sum1 = acc[1];
    int32_t sum2 = acc[2];
    int32_t sum3 = acc[3];
    for (int32_t i = 0; i < p.count; ++i) {
        const int8_t *const xi = x + (i * p.x_step);
        const int8_t *const wi = w + (i * p.w_step);
        sum0 += (xi[0] - p.x_zero_point) * (wi[0] - z0);
        sum1 += (xi[p.x_apart] - p.x_zero_point) * (wi[p.w_apart] - z1);
        sum2 += (xi[2 * p.x_apart] - p.x_zero_point) * (wi[2 * p.w_apart] - z2);
        sum3 += (xi[3 * p.x_apart] - p.x_zero_point) * (wi[3 * p.w_apart] - z3);
    }
    acc[0] = sum0;
    acc[1] = sum1;
    acc[2] = sum2;
    acc[3] = sum3;
}

/* The taps inside the tile, for `count` outputs: 1 or 4. */
TW_KERNEL void tw_qconv_i8_i8_i8_acc32_inside(const tw_qconv *p, int32_t count, int32_t x_apart, tw_taps depth,
        tw_taps row, tw_taps column, const int8_t *x, const int8_t *w, const int32_t *z, int32_t *acc)
{
    const int32_t taps = p->joined ? (column.last - column.first) : 1; /* in one run */
    const tw_dot_i8_i8_acc32 run = {.count = taps * p->group_inputs, .x_step = p->step, .w_step = 1, .x_apart = x_apart,
        .w_apart = p->w_output, .x_zero_point = p->x_zero_point, .w_zero_points = z};
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; kc += taps) {
                const int8_t *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                    + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                    + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                const int8_t *const wt = w + (kd * p->depth.w_step) + (kr * p->row.w_step) + (kc * p->column.w_step);
                if (count == 4) {
                    tw_dot_i8_i8_acc32_4(run, xt, wt, acc);
                } else {
                    tw_dot_i8_i8_acc32_1(run, xt, wt, acc);
                }
            }
        }
    }
}

/* Sum of one output's weights over some taps of a row. */
TW_KERNEL int32_t tw_qconv_i8_i8_i8_acc32_weights(const tw_qconv *p, int32_t first, int32_t last, const int8_t *w,
        int32_t zero_point)
{
    int32_t sum = 0;
    for (int32_t kc = first; kc < last; ++kc) {
        const int8_t *const wt = w + (kc * p->column.w_step);
        for (int32_t c = 0; c < p->group_inputs; ++c) {
            sum += wt[c] - zero_point;
        }
    }
    return sum;
}

/* Sum of one output's weights over the taps that read padding: all of a row outside, or those before and after. */
TW_KERNEL int32_t tw_qconv_i8_i8_i8_acc32_outside(const tw_qconv *p, tw_taps depth, tw_taps row, tw_taps column,
        const int8_t *w, int32_t zero_point)
{
    int32_t sum = 0;
    for (int32_t kd = 0; kd < p->depth.taps; ++kd) {
        for (int32_t kr = 0; kr < p->row.taps; ++kr) {
            const int32_t within = (kd >= depth.first) && (kd < depth.last) && (kr >= row.first) && (kr < row.last);
            const int8_t *const wt = w + (kd * p->depth.w_step) + (kr * p->row.w_step);
            if (!within) {
                sum += tw_qconv_i8_i8_i8_acc32_weights(p, 0, p->column.taps, wt, zero_point);
                continue;
            }
            sum += tw_qconv_i8_i8_i8_acc32_weights(p, 0, column.first, wt, zero_point);
            sum += tw_qconv_i8_i8_i8_acc32_weights(p, column.last, p->column.taps, wt, zero_point);
        }
    }
    return sum;
}

/* One window, `count` outputs (1 or 4), from accumulators to stored bytes. */
TW_KERNEL void tw_qconv_i8_i8_i8_acc32_outputs(const tw_qconv *p, int32_t count, int32_t x_apart, tw_taps depth,
        tw_taps row, tw_taps column, const int8_t *x, const int8_t *w, const int32_t *b, const int32_t *r,
        const int32_t *z, int8_t *y)
{
    int32_t acc[4];
    for (int32_t j = 0; j < count; ++j) {
        acc[j] = b ? b[j] : 0;
    }
    tw_qconv_i8_i8_i8_acc32_inside(p, count, x_apart, depth, row, column, x, w, z, acc);
    const int32_t clipped = ((depth.last - depth.first) < p->depth.taps) || ((row.last - row.first) < p->row.taps)
        || ((column.last - column.first) < p->column.taps);
    for (int32_t j = 0; j < count; ++j) {
        if ((p->padding != 0) && clipped) {
            acc[j] += p->padding
                * tw_qconv_i8_i8_i8_acc32_outside(p, depth, row, column, w + (j * p->w_output), z ? z[j] : 0);
        }
        y[j * p->y_channel] = (int8_t)tw_requant_int32(acc[j], r[j], p->requant);
    }
}

/* One window, every output of the tile: four at a time where they read the same group, or each its own channels. */
TW_KERNEL void tw_qconv_i8_i8_i8_acc32_window(const tw_qconv *p, tw_taps depth, tw_taps row, tw_taps column,
        const int8_t *x, const int8_t *w, const int32_t *b, const int32_t *r, const int32_t *z, int8_t *y)
{
    const int32_t group = p->group_inputs * p->x_channel; /* elements of x to the next group */
    int32_t left = p->group_outputs - (p->first_output % p->group_outputs); /* outputs of the current group */
    int32_t at = 0;
    for (int32_t o = 0; o < p->outputs;) {
        const int32_t room = p->outputs - o;
        const int32_t count = ((room >= 4) && ((p->group_outputs == 1) || (left >= 4))) ? 4 : 1;
        const int32_t *const bo = b ? &b[o] : b;
        const int32_t *const zo = z ? &z[o] : z;
        if (count == 4) {
            tw_qconv_i8_i8_i8_acc32_outputs(p, 4, (p->group_outputs == 1) ? group : 0, depth, row, column, x + at,
                w + (o * p->w_output), bo, r + o, zo, y + (o * p->y_channel));
        } else {
            tw_qconv_i8_i8_i8_acc32_outputs(p, 1, 0, depth, row, column, x + at,
                w + (o * p->w_output), bo, r + o, zo, y + (o * p->y_channel));
        }
        o += count;
        if (p->group_outputs == 1) {
            at += count * group;
        } else if ((left -= count) == 0) {
            at += group;
            left = p->group_outputs;
        }
    }
}

/* y = requant(b + sum of (x - x_zero_point) * (w - w_zero_point)); positions outside read pad_value. */
TW_KERNEL void tw_qconv_i8_i8_i8_acc32(const tw_qconv p, const int8_t *x, const int8_t *w, const int32_t *b,
        const int32_t *r, const int32_t *z, int8_t *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    tw_qconv_i8_i8_i8_acc32_window(&p, depth, row, column, x + (n * p.x_batch), w, b, r, z,
                        y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step) + (k * p.column.y_step));
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QConv
 *   nodes    qconv_same_0
 *   kernel   portable.qconv
 *   X        i8[1,12,27,25]  ram [0, 8100)      qconv_same_0_in0
 *   W        i8[18,3,3,12]   flash [160, 2104)  qconv_same_0.W
 *   R        i32[18]         flash [16, 88)     qconv_same_0.R
 *   B        i32[18]         flash [88, 160)    qconv_same_0.B
 *   Y        i8[1,18,27,25]  ram [8100, 20250)  qconv_same_0_out0
 */
TW_STEP void net_0_qconv(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QCONV_SAME_0_IN0);
    const int8_t *const w = (const int8_t *)(flash + QCONV_0_W);
    const int32_t *const r = (const int32_t *)(flash + QCONV_0_R);
    const int32_t *const b = (const int32_t *)(flash + QCONV_0_B);
    int8_t *const y = (int8_t *)(ram + QCONV_0_OUT);
    tw_qconv_i8_i8_i8_acc32((tw_qconv){
        .batches = 1, .outputs = 18, .group_inputs = 12, .group_outputs = 18, .first_output = 0, .x_batch = 8100,
        .x_channel = 675, .y_batch = 12150, .y_channel = 675, .w_output = 108,
        .depth = {.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1, .counted = 1},
        .row = {.outputs = 27, .inputs = 27, .taps = 3, .stride = 1, .dilation = 1, .before = 1, .counted = 28,
            .x_step = 25, .y_step = 25, .w_step = 36},
        .column = {.outputs = 25, .inputs = 25, .taps = 3, .stride = 1, .dilation = 1, .before = 1, .counted = 26,
            .x_step = 1, .y_step = 1, .w_step = 12},
        .x_zero_point = -4, .padding = 0, .joined = 0, .step = 675,
        .requant = {.shift = 52, .zero_point = -3, .low = -128, .high = 127, .fixed = 0, .exact = 1},
    }, x, w, b, r, (const int32_t *)0, y);
}
