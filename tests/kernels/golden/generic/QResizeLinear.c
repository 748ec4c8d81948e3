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

/* Every output between its neighbours: their weights are whole numbers, whose sum the requantisation divides by. */
TW_KERNEL void tw_qresize_linear_i8_i8(const tw_resize_linear p, int32_t zeros, int32_t word, tw_requant requant,
        const int8_t *x, int8_t *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t j = 0; j < p.row.outputs; ++j) {
            const tw_neighbours row = tw_line_at(&p.row, j);
            for (int32_t k = 0; k < p.column.outputs; ++k) {
                const tw_neighbours column = tw_line_at(&p.column, k);
                const int8_t *const xn = x + (n * p.x_batch);
                int8_t *const yn = y + (n * p.y_batch) + (j * p.row.y_step) + (k * p.column.y_step);
                const int32_t left = p.column.divisor - column.share;
                for (int32_t c = 0; c < p.channels; ++c) {
                    const int8_t *const above = xn + (c * p.x_channel) + row.before;
                    const int8_t *const below = xn + (c * p.x_channel) + row.after;
                    const int32_t upper = (above[column.before] * left) + (above[column.after] * column.share);
                    const int32_t lower = (below[column.before] * left) + (below[column.after] * column.share);
                    const int32_t acc = (upper * (p.row.divisor - row.share)) + (lower * row.share) - zeros;
                    yn[c * p.y_channel] = (int8_t)tw_requant_int32(acc, word, requant);
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QResizeLinear
 *   nodes    qresizelinear_0
 *   kernel   portable.qresize_linear
 *   X        i8[1,7,9,11]   ram [3452, 4145)  qresizelinear_0_in0
 *   Y        i8[1,7,17,29]  ram [0, 3451)     qresizelinear_0_out0
 */
TW_STEP void net_0_qresizelinear(uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QRESIZELINEAR_0_IN0);
    int8_t *const y = (int8_t *)(ram + QRESIZELINEAR_0_OUT);
    tw_qresize_linear_i8_i8((tw_resize_linear){
        .batches = 1, .channels = 7, .x_batch = 693, .x_channel = 99, .y_batch = 3451, .y_channel = 493,
        .row = {.outputs = 17, .first = 0, .slope = 9, .offset = -4, .divisor = 17, .last = 8, .origin = 0,
            .x_step = 11, .y_step = 29},
        .column = {.outputs = 29, .first = 0, .slope = 10, .offset = 0, .divisor = 28, .last = 10, .origin = 0,
            .x_step = 1, .y_step = 1},
    }, 1904, -1151699954, (tw_requant){.shift = 52, .zero_point = -3, .low = -128, .high = 127, .fixed = 0, .exact = 1},
        x, y);
}
