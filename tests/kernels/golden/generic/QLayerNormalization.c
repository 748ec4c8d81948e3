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

typedef struct {
    /* a row is `blocks` of `count` elements; from one to the next of x, of factors, of addends, of y */
    int32_t blocks, count;
    int32_t x_block, x_step, f_block, f_step, a_block, a_step, y_block, y_step;
    int32_t centred, x_zero_point;
    uint64_t epsilon;
    int32_t epsilon_bits, bits, shift, low, high;
} tw_qlayernorm;

/* What brings an element of a row to its distance from the mean over the deviation. */
typedef struct {
    int32_t sum, scale, inverse;
} tw_qlayernorm_row;

/* The upper half of a product below 2^62. Adding 2^62 keeps it positive, where >> is defined. */
TW_KERNEL int32_t tw_qlayernorm_high(int32_t one, int32_t other)
{
    const uint64_t above = (uint64_t)((int64_t)one * other) + (UINT64_C(1) << 62);
    return (int32_t)(above >> 32) - (INT32_C(1) << 30);
}

/* The root of a number from 2^60 to 2^62, rounded down. */
TW_KERNEL uint32_t tw_qlayernorm_root(uint64_t square)
{
    uint32_t root = 0;
    for (uint32_t bit = UINT32_C(1) << 30; bit != 0; bit >>= 1) {
        const uint32_t next = root | bit;
        root = (((uint64_t)next * next) <= square) ? next : root;
    }
    return root;
}

/* From the sum and the sum of squares of a row of n elements. */
TW_KERNEL tw_qlayernorm_row tw_qlayernorm_row_of(int64_t n, int32_t sum, int64_t squares, const tw_qlayernorm *p)
{
    const int64_t mean = p->centred ? sum : 0;
    const uint64_t variance = (uint64_t)((n * squares) - (mean * mean));
    tw_qlayernorm_row row = {.sum = (int32_t)mean, .scale = 0, .inverse = 0};
    if (variance > 0) {
        uint64_t square = (variance << p->epsilon_bits) + p->epsilon;
        int32_t up = p->bits + (p->epsilon_bits / 2) - 29;
        while (square < (UINT64_C(1) << 60)) {
            square <<= 2;
            up += 1;
        }
        const uint64_t inverse = (UINT64_C(1) << 61) / tw_qlayernorm_root(square);
        row.scale = (int32_t)1 << ((up > 0) ? up : 0);
        row.inverse = (int32_t)((inverse - (inverse >> 31)) >> ((up < 0) ? -up : 0));
    }
    return row;
}

/* One element, `apart` being n times its distance from the mean. */
TW_KERNEL int32_t tw_qlayernorm_element(int32_t apart, tw_qlayernorm_row row, int32_t factor, int32_t addend,
                                        const tw_qlayernorm *p)
{
    const int32_t even = tw_qlayernorm_high(apart * row.scale, row.inverse);
    const int32_t scaled = tw_qlayernorm_high(even, factor) + addend;
    const int32_t q = (scaled < 0) ? ~(~scaled >> p->shift) : (scaled >> p->shift);
    return (q < p->low) ? p->low : ((q > p->high) ? p->high : q);
}

/* One row: the distance of each element from the mean, over the deviation, times f, plus a. */
TW_KERNEL void tw_qlayernorm_i8_i8(tw_qlayernorm p, const int8_t *x, const int32_t *f, const int32_t *a, int8_t *y)
{
    int32_t sum = 0;
    int64_t squares = 0;
    for (int32_t b = 0; b < p.blocks; ++b) {
        for (int32_t i = 0; i < p.count; ++i) {
            const int32_t d = x[(b * p.x_block) + (i * p.x_step)] - p.x_zero_point;
            sum += d;
            squares += d * d;
        }
    }
    const int32_t n = p.blocks * p.count;
    const tw_qlayernorm_row row = tw_qlayernorm_row_of(n, sum, squares, &p);
    for (int32_t b = 0; b < p.blocks; ++b) {
        for (int32_t i = 0; i < p.count; ++i) {
            const int32_t d = x[(b * p.x_block) + (i * p.x_step)] - p.x_zero_point;
            const int32_t factor = f[(b * p.f_block) + (i * p.f_step)];
            const int32_t addend = a[(b * p.a_block) + (i * p.a_step)];
            const int32_t q = tw_qlayernorm_element((n * d) - row.sum, row, factor, addend, &p);
            y[(b * p.y_block) + (i * p.y_step)] = (int8_t)q;
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QLayerNormalization
 *   nodes    qlayernormalization_0
 *   kernel   portable.qlayer_normalization
 *   X        i8[8,29,31]  ram [0, 7192)      qlayernormalization_0_in0
 *   F        i32[1,29,1]  flash [132, 248)   qlayernormalization_0.F
 *   A        i32[1,29,1]  flash [16, 132)    qlayernormalization_0.A
 *   Y        i8[8,29,31]  ram [7192, 14384)  qlayernormalization_0_out0
 */
TW_STEP void net_0_qlayernormalization(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QLAYERNORMALIZATION_0_IN0);
    const int32_t *const f = (const int32_t *)(flash + QLAYERNORMALIZATION_0_F);
    const int32_t *const a = (const int32_t *)(flash + QLAYERNORMALIZATION_0_A);
    int8_t *const y = (int8_t *)(ram + QLAYERNORMALIZATION_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 8; ++tw_i0) {
        tw_qlayernorm_i8_i8((tw_qlayernorm){
            .blocks = 29, .count = 31, .x_block = 31, .x_step = 1, .f_block = 1, .f_step = 0, .a_block = 1, .a_step = 0,
            .y_block = 31, .y_step = 1, .epsilon = UINT64_C(1048576), .centred = 1, .x_zero_point = 3,
            .epsilon_bits = 4, .bits = 22, .shift = 14, .low = -128, .high = 127,
        }, x + (tw_i0 * 899), f, a, y + (tw_i0 * 899));
    }
}
