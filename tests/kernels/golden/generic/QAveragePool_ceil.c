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

/* `word` is the multiplier, or with the sign bit set the bits of the scale. */
TW_KERNEL int32_t tw_requant_int32(int32_t acc, int32_t word, tw_requant p)
{
    if (p.fixed && (!p.exact || (word >= 0))) {
        return tw_requant_fixed((int64_t)acc * word, p);
    }
    return tw_requant_exact((float)acc, word, p);
}

/* Sums of one window over `count` neighbouring channels, 1 or 4; tiles of x only, padding counts for nothing. */
TW_KERNEL void tw_qaverage_pool_i8_i8_sums(const tw_pool *p, int32_t count, tw_taps depth, tw_taps row, tw_taps column,
        const int8_t *x, int32_t *sums)
{
    int32_t sum0 = 0;
    int32_t sum1 = 0;
    int32_t sum2 = 0;
    int32_t sum3 = 0;
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            const int8_t *const line = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                + ((row.start + (kr * p->row.dilation)) * p->row.x_step);
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const int8_t *const xt = line + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                sum0 += xt[0];
                if (count == 4) {
                    sum1 += xt[p->x_channel];
                    sum2 += xt[2 * p->x_channel];
                    sum3 += xt[3 * p->x_channel];
                }
            }
        }
    }
    sums[0] = sum0;
    if (count == 4) {
        sums[1] = sum1;
        sums[2] = sum2;
        sums[3] = sum3;
    }
}

/* One window, every channel. `zeros`: what the elements inside have too much; `word` belongs to the window's count. */
TW_KERNEL void tw_qaverage_pool_i8_i8_window(const tw_pool *p, tw_requant requant, tw_taps depth, tw_taps row,
        tw_taps column, int32_t zeros, int32_t word, const int8_t *x, int8_t *y)
{
    int32_t sums[4];
    int32_t c = 0;
    for (; (c + 4) <= p->channels; c += 4) {
        tw_qaverage_pool_i8_i8_sums(p, 4, depth, row, column, x + (c * p->x_channel), sums);
        for (int32_t j = 0; j < 4; ++j) {
            y[(c + j) * p->y_channel] = (int8_t)tw_requant_int32(sums[j] - zeros, word, requant);
        }
    }
    for (; c < p->channels; ++c) {
        tw_qaverage_pool_i8_i8_sums(p, 1, depth, row, column, x + (c * p->x_channel), sums);
        y[c * p->y_channel] = (int8_t)tw_requant_int32(sums[0] - zeros, word, requant);
    }
}

/* y = requant(sum of x - x_zero_point over each window), with the scale that belongs to how many positions count. */
TW_KERNEL void tw_qaverage_pool_i8_i8(const tw_pool p, const tw_requant requant, int32_t x_zero_point, int32_t words,
        int32_t padding, const int8_t *x, const int32_t *r, int8_t *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    const int32_t inside = (depth.last - depth.first) * (row.last - row.first)
                        * (column.last - column.first);
                    const int32_t counted = padding ? (tw_taps_below(&p.depth, depth.start, p.depth.counted)
                            * tw_taps_below(&p.row, row.start, p.row.counted)
                            * tw_taps_below(&p.column, column.start, p.column.counted))
                        : inside;
                    const int32_t word = r[((words == 1) || (counted < 1)) ? 0 : (counted - 1)];
                    tw_qaverage_pool_i8_i8_window(&p, requant, depth, row, column, inside * x_zero_point, word,
                        x + (n * p.x_batch),
                        y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step) + (k * p.column.y_step));
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QAveragePool
 *   nodes    qaveragepool_ceil_0
 *   kernel   portable.qaverage_pool
 *   X        i8[1,12,27,25]  ram [0, 8100)      qaveragepool_ceil_0_in0
 *   R        i32[6]          flash [16, 40)     qaveragepool_ceil_0.R
 *   Y        i8[1,12,14,13]  ram [8100, 10284)  qaveragepool_ceil_0_out0
 */
TW_STEP void net_0_qaveragepool(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QAVERAGEPOOL_CEIL_0_IN0);
    const int32_t *const r = (const int32_t *)(flash + QAVERAGEPOOL_0_R);
    int8_t *const y = (int8_t *)(ram + QAVERAGEPOOL_0_OUT);
    tw_qaverage_pool_i8_i8((tw_pool){
        .batches = 1, .channels = 12, .x_batch = 8100, .x_channel = 675, .y_batch = 2184, .y_channel = 182,
        .depth = {.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1, .counted = 1},
        .row = {.outputs = 14, .inputs = 27, .taps = 3, .stride = 2, .dilation = 1, .before = 1, .counted = 28,
            .x_step = 25, .y_step = 13, .w_step = 0},
        .column = {.outputs = 13, .inputs = 25, .taps = 2, .stride = 2, .dilation = 1, .before = 0, .counted = 26,
            .x_step = 1, .y_step = 1, .w_step = 0},
    }, (tw_requant){.shift = 52, .zero_point = 1, .low = -128, .high = 127, .fixed = 0, .exact = 1}, -4, 6, 0, x, r, y);
}
