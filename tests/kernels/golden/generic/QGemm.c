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

typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* elements between neighbours; b_row where every row has its own matrix */
    int32_t a_row;
    int32_t b_row;
    int32_t y_row;
    int32_t a_depth;
    int32_t b_depth;
    int32_t b_column;
    int32_t y_column;
    int32_t a_zero_point;
    int32_t own; /* 1 where every column has a word (and a zero point) of its own, 0 where all share them */
    tw_requant requant;
} tw_qgemm;

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

/* `count` neighbouring columns of one row: 1 or 4. */
TW_KERNEL void tw_qgemm_i8_i8_i8_acc32_columns(const tw_qgemm *p, int32_t count, const int8_t *a, const int8_t *b,
        const int32_t *c, const int32_t *r, const int32_t *z, int8_t *y)
{
    const tw_dot_i8_i8_acc32 run = {.count = p->depth, .x_step = p->a_depth, .w_step = p->b_depth, .x_apart = 0,
        .w_apart = p->b_column, .x_zero_point = p->a_zero_point, .w_zero_points = z};
    int32_t acc[4];
    for (int32_t j = 0; j < count; ++j) {
        acc[j] = c ? c[j] : 0;
    }
    if (count == 4) {
        tw_dot_i8_i8_acc32_4(run, a, b, acc);
    } else {
        tw_dot_i8_i8_acc32_1(run, a, b, acc);
    }
    for (int32_t j = 0; j < count; ++j) {
        y[j * p->y_column] = (int8_t)tw_requant_int32(acc[j], r[j * p->own], p->requant);
    }
}

/* y = requant(c + sum of (a - a_zero_point) * (b - b_zero_point)), row by row. */
TW_KERNEL void tw_qgemm_i8_i8_i8_acc32(const tw_qgemm p, const int8_t *a, const int8_t *b, const int32_t *c,
        const int32_t *r, const int32_t *z, int8_t *y)
{
    for (int32_t m = 0; m < p.rows; ++m) {
        const int8_t *const am = a + (m * p.a_row);
        const int8_t *const bm = b + (m * p.b_row);
        int8_t *const ym = y + (m * p.y_row);
        int32_t n = 0;
        for (; (n + 4) <= p.columns; n += 4) {
            tw_qgemm_i8_i8_i8_acc32_columns(&p, 4, am, bm + (n * p.b_column), c ? &c[n] : c, r + (n * p.own),
                z ? &z[n * p.own] : z, ym + (n * p.y_column));
        }
        for (; n < p.columns; ++n) {
            tw_qgemm_i8_i8_i8_acc32_columns(&p, 1, am, bm + (n * p.b_column), c ? &c[n] : c, r + (n * p.own),
                z ? &z[n * p.own] : z, ym + (n * p.y_column));
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QGemm
 *   nodes    qgemm_0
 *   kernel   portable.qgemm
 *   A        i8[37,101]  ram [0, 3737)      qgemm_0_in0
 *   B        i8[53,101]  flash [440, 5793)  qgemm_0.B
 *   R        i32[53]     flash [16, 228)    qgemm_0.R
 *   C        i32[53]     flash [228, 440)   qgemm_0.C
 *   Y        i8[37,53]   ram [3740, 5701)   qgemm_0_out0
 */
TW_STEP void net_0_qgemm(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const a = (const int8_t *)(ram + IN_QGEMM_0_IN0);
    const int8_t *const b = (const int8_t *)(flash + QGEMM_0_B);
    const int32_t *const r = (const int32_t *)(flash + QGEMM_0_R);
    const int32_t *const c = (const int32_t *)(flash + QGEMM_0_C);
    int8_t *const y = (int8_t *)(ram + QGEMM_0_OUT);
    tw_qgemm_i8_i8_i8_acc32((tw_qgemm){
        .rows = 37, .columns = 53, .depth = 101, .a_row = 101, .b_row = 0, .y_row = 53, .a_depth = 1, .y_column = 1,
        .a_zero_point = 5, .b_depth = 1, .b_column = 101, .own = 1,
        .requant = {.shift = 36, .zero_point = -3, .low = -128, .high = 127, .fixed = 1, .exact = 1},
    }, a, b, c, r, (const int32_t *)0, y);
}
