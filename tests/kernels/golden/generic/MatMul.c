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

/* y = clip(alpha * (a . b) + beta * c): one matrix product, four columns at a time share the reads of a; NaN kept. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* elements between neighbours; b_row where every row has its own matrix */
    int32_t a_row;
    int32_t b_row;
    int32_t c_row;
    int32_t y_row;
    int32_t a_depth;
    int32_t b_depth;
    int32_t b_column;
    int32_t c_column;
    int32_t y_column;
    float alpha;
    float beta;
    float low;
    float high;
} tw_matmul;

TW_KERNEL float tw_matmul_finish(const tw_matmul *p, float sum, const float *c, int32_t at)
{
    const float value = c ? ((p->alpha * sum) + (p->beta * c[at])) : (p->alpha * sum);
    return (value < p->low) ? p->low : ((value > p->high) ? p->high : value);
}

TW_KERNEL void tw_matmul_f32(const tw_matmul p, const float *a, const float *b, const float *c, float *y)
{
    for (int32_t m = 0; m < p.rows; ++m) {
        const float *const am = a + (m * p.a_row);
        float *const ym = y + (m * p.y_row);
        const float *const bm = b + (m * p.b_row);
        const int32_t cm = m * p.c_row;
        int32_t n = 0;
        for (; (n + 4) <= p.columns; n += 4) {
            const float *const b0 = bm + (n * p.b_column);
            const float *const b1 = b0 + p.b_column;
            const float *const b2 = b1 + p.b_column;
            const float *const b3 = b2 + p.b_column;
            float s0 = 0.0f;
            float s1 = 0.0f;
            float s2 = 0.0f;
            float s3 = 0.0f;
            for (int32_t k = 0; k < p.depth; ++k) {
                const float v = am[k * p.a_depth];
                s0 += v * b0[k * p.b_depth];
                s1 += v * b1[k * p.b_depth];
                s2 += v * b2[k * p.b_depth];
                s3 += v * b3[k * p.b_depth];
            }
            ym[n * p.y_column] = tw_matmul_finish(&p, s0, c, cm + (n * p.c_column));
            ym[(n + 1) * p.y_column] = tw_matmul_finish(&p, s1, c, cm + (n + 1) * p.c_column);
            ym[(n + 2) * p.y_column] = tw_matmul_finish(&p, s2, c, cm + (n + 2) * p.c_column);
            ym[(n + 3) * p.y_column] = tw_matmul_finish(&p, s3, c, cm + (n + 3) * p.c_column);
        }
        for (; n < p.columns; ++n) {
            const float *const bn = bm + (n * p.b_column);
            float sum = 0.0f;
            for (int32_t k = 0; k < p.depth; ++k) {
                sum += am[k * p.a_depth] * bn[k * p.b_depth];
            }
            ym[n * p.y_column] = tw_matmul_finish(&p, sum, c, cm + (n * p.c_column));
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: MatMul
 *   nodes    matmul_0
 *   kernel   portable.matmul_weights_f32
 *   A        f32[2,27,61]  ram [0, 13176)      matmul_0_in0
 *   B        f32[35,61]    flash [16, 8556)    matmul_0.B
 *   Y        f32[2,27,35]  ram [13176, 20736)  matmul_0_out0
 */
TW_STEP void net_0_matmul(const uint8_t *flash, uint8_t *ram)
{
    const float *const a = (const float *)(ram + IN_MATMUL_0_IN0);
    const float *const b = (const float *)(flash + MATMUL_0_B);
    float *const y = (float *)(ram + MATMUL_0_OUT);
    tw_matmul_f32((tw_matmul){
        .rows = 54, .columns = 35, .depth = 61, .a_row = 61, .b_row = 0, .y_row = 35, .c_row = 0, .a_depth = 1,
        .b_depth = 1, .b_column = 61, .c_column = 0, .y_column = 1, .alpha = 0x1.0000000000000p+0f,
        .beta = 0x1.0000000000000p+0f, .low = -INFINITY, .high = INFINITY,
    }, a, b, (const float *)0, y);
}
