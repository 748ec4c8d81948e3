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

/* Products of x with rows of w that are `apart`, added to as many sums. */
TW_KERNEL void tw_gate_sums_i8_3(const int8_t *x, const int8_t *w, int32_t apart, int32_t count, int32_t *sum)
{
    int32_t sum0 = sum[0];
    int32_t sum1 = sum[1];
    int32_t sum2 = sum[2];
    for (int32_t k = 0; k < count; ++k) {
        const int32_t xk = x[k];
        sum0 += xk * w[k];
        sum1 += xk * w[k + apart];
        sum2 += xk * w[k + (2 * apart)];
    }
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
}

/* value / 2^shift, rounded down: >> of a negative number is the compiler's own. */
TW_KERNEL int64_t tw_floor_shift(int64_t value, int32_t shift)
{
    return (value < 0) ? ~(~value >> shift) : (value >> shift);
}

/* What a signed register of `bits` (below 64) holds of `value`. */
TW_KERNEL int64_t tw_wrapped(int64_t value, int32_t bits)
{
    const uint64_t half = UINT64_C(1) << (bits - 1);
    const uint64_t kept = ((uint64_t)value + half) & ((half << 1) - 1);
    return (int64_t)kept - (int64_t)half;
}

/* Gates of integer recurrences: sums, functions and products of 16 bits. */
TW_KERNEL int32_t tw_gate_limited(int32_t value)
{
    return (value < -32768) ? -32768 : ((value > 32767) ? 32767 : value);
}

/* value / 2^shift, rounded down: >> of a negative number is the compiler's own. */
TW_KERNEL int32_t tw_gate_floor(int32_t value, int32_t shift)
{
    return (value < 0) ? ~(~value >> shift) : (value >> shift);
}

/* A multiplier of 31 bits and an exponent, rounded twice: up at 2^31, then to nearest, halves away from zero. */
TW_KERNEL int32_t tw_gate_scaled(int32_t sum, const int32_t *words)
{
    const int32_t left = (words[1] > 0) ? words[1] : 0;
    const int32_t right = (words[1] > 0) ? 0 : -words[1];
    const int64_t product = ((int64_t)(sum * (1 << left)) * words[0]) + (INT64_C(1) << 30);
    const int32_t high = (int32_t)tw_floor_shift(product, 31);
    const int32_t below = high & ((1 << right) - 1);
    const int32_t half = ((1 << right) >> 1) + ((high < 0) ? 1 : 0);
    return tw_gate_floor(high, right) + (((right > 0) && (below >= half)) ? 1 : 0);
}

/* The same of what is a gate's, in 16 bits. */
TW_KERNEL int32_t tw_gate_product(int32_t a, int32_t b, const int32_t *words)
{
    return tw_gate_limited(tw_gate_scaled(a * b, words));
}

/* Of a sum of 64 bits: a multiplier of 16 bits and a shift to the right, rounded once. */
TW_KERNEL int32_t tw_gate_scaled_wide(int64_t sum, const int32_t *words)
{
    const int64_t value = tw_floor_shift((sum * words[0]) + (INT64_C(1) << (words[1] - 1)), words[1]);
    return (value < -32768) ? -32768 : ((value > 32767) ? 32767 : (int32_t)value);
}

TW_KERNEL int32_t tw_gate_sigmoid(int32_t v, const uint16_t *table)
{
    const int32_t size = 3 * ((v < 0) ? -v : v);
    const int32_t k = size >> 9;
    int32_t value = 32767 << 10;
    if (k < 255) {
        value = (table[k] * 512) + ((size & 511) * (table[k + 1] - table[k]));
    }
    return ((v < 0) ? ((1 << 25) - value + 511) : (value + 512)) >> 10;
}

/* words: what v is multiplied with, and then shifted to the right by. */
TW_KERNEL int32_t tw_gate_tanh(int32_t v, const int32_t *words, const uint16_t *table)
{
    const int32_t half = (words[1] > 0) ? (1 << (words[1] - 1)) : 0;
    const int32_t place = tw_gate_floor((v * words[0]) + half, words[1]);
    const int32_t size = (place < 0) ? -place : place;
    const int32_t k = size >> 8;
    int32_t value = 65535 << 8;
    if (k < 255) {
        value = (table[k] * 256) + ((size & 255) * (table[k + 1] - table[k]));
    }
    value = (value - (1 << 23) + 128) >> 8;
    return (place < 0) ? -value : value;
}

typedef struct { /* elements between neighbours, but for the first line; of words two each */
    int32_t steps, batches, inputs, hidden;
    int32_t x_step, x_batch;
    int32_t h0_batch;
    int32_t hn_batch;
    int32_t y_step, y_batch;
    int32_t reverse, zero_point, low, high;
    int32_t given[6], inner[6], out[2];
    int32_t in[2];
} tw_qgru_c1b24376_shape;

/* What a unit's gates get from the input. */
TW_KERNEL void tw_qgru_c1b24376_given(const tw_qgru_c1b24376_shape *p, int32_t unit, const int8_t *x, const int8_t *w,
                   const int32_t *b, int32_t *own)
{
    int32_t sum[3];
    for (int32_t g = 0; g < 3; ++g) {
        sum[g] = b[(g * p->hidden) + unit];
    }
    tw_gate_sums_i8_3(x, w + (unit * p->inputs), p->hidden * p->inputs, p->inputs, sum);
    for (int32_t g = 0; g < 3; ++g) {
        own[g] = tw_gate_limited(tw_gate_scaled(sum[g], &p->given[2 * g]));
    }
}

/* What they get from the state before. */
TW_KERNEL void tw_qgru_c1b24376_inner(const tw_qgru_c1b24376_shape *p, int32_t unit, const int8_t *h, const int8_t *r,
                   const int32_t *rb, int32_t *inner)
{
    int32_t sum[3];
    for (int32_t g = 0; g < 3; ++g) {
        sum[g] = rb ? rb[(g * p->hidden) + unit] : 0;
    }
    tw_gate_sums_i8_3(h, r + (unit * p->hidden), p->hidden * p->hidden, p->hidden, sum);
    for (int32_t g = 0; g < 3; ++g) {
        inner[g] = tw_gate_limited(tw_gate_scaled(sum[g], &p->inner[2 * g]));
    }
}

/* A hidden state as it is stored. */
TW_KERNEL int8_t tw_qgru_c1b24376_stored(const tw_qgru_c1b24376_shape *p, int32_t product)
{
    const int32_t value = tw_gate_scaled(product, p->out) + p->zero_point;
    return (int8_t)((value < p->low) ? p->low : ((value > p->high) ? p->high : value));
}

/* Step after step for each sequence; `scratch` has room for the next hidden state, and for the
 * state of 16 bits before it is stored. */
TW_KERNEL void tw_qgru_c1b24376(const tw_qgru_c1b24376_shape p, const int8_t *x, const int8_t *w, const int8_t *r,
                   const int32_t *b, const int32_t *rb, const uint16_t *table, const int8_t *h0,
                   int8_t *hn, int8_t *y, void *scratch)
{
    const int32_t plain[2] = {3, 0}; /* of gates, whose tanh shifts nothing */
    int16_t *const c = scratch;
    int8_t *const next = (int8_t *)(void *)(c + p.hidden);
    for (int32_t n = 0; n < p.batches; ++n) {
        int8_t *const h = hn + (n * p.hn_batch);
        for (int32_t j = 0; j < p.hidden; ++j) {
            h[j] = h0[(n * p.h0_batch) + j];
            c[j] = (int16_t)tw_gate_limited(tw_gate_scaled(h[j] - p.zero_point, p.in));
        }
        for (int32_t t = 0; t < p.steps; ++t) {
            const int32_t at = p.reverse ? (p.steps - 1 - t) : t;
            const int8_t *const xt = x + (at * p.x_step) + (n * p.x_batch);
            for (int32_t j = 0; j < p.hidden; ++j) {
                int32_t gate[3];
                int32_t own[3];
                int32_t inner[3];
                tw_qgru_c1b24376_given(&p, j, xt, w, b, own);
                tw_qgru_c1b24376_inner(&p, j, h, r, rb, inner);
                for (int32_t g = 0; g < 2; ++g) {
                    gate[g] = tw_gate_sigmoid(tw_gate_limited(own[g] + inner[g]), table);
                }
                const int32_t inside = tw_gate_floor((gate[1] * inner[2]) + 16384, 15);
                gate[2] = tw_gate_tanh(tw_gate_limited(own[2] + inside), plain, table);
                const int32_t mixed = (gate[0] * c[j]) + ((32768 - gate[0]) * gate[2]);
                c[j] = (int16_t)tw_gate_floor(mixed + 16384, 15);
                next[j] = tw_qgru_c1b24376_stored(&p, c[j]);
            }
            for (int32_t j = 0; j < p.hidden; ++j) {
                h[j] = next[j];
                y[(at * p.y_step) + (n * p.y_batch) + j] = next[j];
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QGRU
 *   nodes    qgru_everything_0
 *   kernel   portable.qgru
 *   X        i8[7,11,9]  ram [516, 1209)   qgru_everything_0_in0
 *   W        i8[15,9]    flash [724, 859)  qgru_everything_0.W
 *   R        i8[15,5]    flash [16, 91)    qgru_everything_0.R
 *   B        i32[15]     flash [92, 152)   qgru_everything_0.B
 *   RB       i32[15]     flash [152, 212)  qgru_everything_0.RB
 *   T        u16[256]    flash [212, 724)  qgru_everything_0.T
 *   H0       i8[11,5]    ram [16, 71)      qgru_everything_0_in6
 *   HN       i8[11,5]    ram [72, 127)     qgru_everything_0_out0
 *   Y        i8[7,11,5]  ram [128, 513)    qgru_everything_0_out1
 *   scratch  u8[15]      ram [0, 15)
 */
TW_STEP void net_0_qgru(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QGRU_EVERYTHING_0_IN0);
    const int8_t *const w = (const int8_t *)(flash + QGRU_0_W);
    const int8_t *const r = (const int8_t *)(flash + QGRU_0_R);
    const int32_t *const b = (const int32_t *)(flash + QGRU_0_B);
    const int32_t *const rb = (const int32_t *)(flash + QGRU_0_RB);
    const uint16_t *const t_2 = (const uint16_t *)(flash + QGRU_0_T);
    const int8_t *const h0 = (const int8_t *)(ram + IN_QGRU_EVERYTHING_0_IN6);
    int8_t *const hn = (int8_t *)(ram + QGRU_0_OUT);
    int8_t *const y = (int8_t *)(ram + QGRU_0_OUT_Y);
    uint8_t *const scratch = ram + QGRU_0_SCRATCH;
    tw_qgru_c1b24376((tw_qgru_c1b24376_shape){
        .steps = 7, .batches = 11, .inputs = 9, .hidden = 5, .x_step = 99, .x_batch = 9, .h0_batch = 5, .hn_batch = 5,
        .y_step = 55, .y_batch = 5, .reverse = 1, .zero_point = -3, .low = -128, .high = 127,
        .given = {1222509040, 1, 1124623433, 1, 1269735069, -2}, .inner = {1165092127, 2, 1320446527, 1, 1359330085, 1},
        .out = {1073741824, -7}, .in = {1073741824, 9},
    }, x, w, r, b, rb, t_2, h0, hn, y, scratch);
}
