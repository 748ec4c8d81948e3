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

/* y = (a - zero of its row) . (b - zero of its column), summed modulo 2^32, then times both scales, plus c. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* elements between neighbours */
    int32_t a_row;
    int32_t b_row;
    int32_t p_row;
    int32_t y_row;
    int32_t a_depth;
    int32_t b_depth;
    int32_t b_column;
    int32_t q_column;
    int32_t y_column;
    int32_t f_step;
    int32_t c_step;
} tw_integer_matmul_i8_i8_f32_shape;

TW_KERNEL void tw_integer_matmul_i8_i8_f32(const tw_integer_matmul_i8_i8_f32_shape s, const int8_t *a, const int8_t *b,
                           const int8_t *row_zeros, const int8_t *column_zeros, const float *scale,
                           const float *factors, const float *addends, float *y)
{
    const float shared = scale ? *scale : 1.0f;
    for (int32_t m = 0; m < s.rows; ++m) {
        const int32_t a_zero = row_zeros ? row_zeros[m * s.p_row] : 0;
        for (int32_t n = 0; n < s.columns; ++n) {
            const int32_t b_zero = column_zeros ? column_zeros[n * s.q_column] : 0;
            const int8_t *const am = a + (m * s.a_row);
            const int8_t *const bn = b + (m * s.b_row) + (n * s.b_column);
            uint32_t sum = 0;
            for (int32_t k = 0; k < s.depth; ++k) {
                sum += (uint32_t)((am[k * s.a_depth] - a_zero) * (bn[k * s.b_depth] - b_zero));
            }
            const float scaled = (float)(int32_t)sum * (factors ? (shared * factors[n * s.f_step]) : shared);
            y[(m * s.y_row) + (n * s.y_column)] = addends ? (scaled + addends[n * s.c_step]) : scaled;
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: MatMulInteger
 *   nodes    matmulinteger_scaled_0
 *   kernel   portable.matmul_integer
 *   A        i8[2,27,61]   ram [3888, 7182)   matmulinteger_scaled_0_in0
 *   B        i8[61,18]     flash [160, 1258)  matmulinteger_scaled_0.B
 *   P        i8[1]         ram [7188, 7189)   matmulinteger_scaled_0_in2
 *   S        f32[]         ram [7184, 7188)   matmulinteger_scaled_0_in4
 *   F        f32[18]       flash [16, 88)     matmulinteger_scaled_0.F
 *   C        f32[18]       flash [88, 160)    matmulinteger_scaled_0.C
 *   Y        f32[2,27,18]  ram [0, 3888)      matmulinteger_scaled_0_out0
 */
TW_STEP void net_0_matmulinteger(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const a = (const int8_t *)(ram + IN_MATMULINTEGER_SCALED_0_IN0);
    const int8_t *const b = (const int8_t *)(flash + MATMULINTEGER_0_B);
    const int8_t *const p = (const int8_t *)(ram + IN_MATMULINTEGER_SCALED_0_IN2);
    const float *const s = (const float *)(ram + IN_MATMULINTEGER_SCALED_0_IN4);
    const float *const f = (const float *)(flash + MATMULINTEGER_0_F);
    const float *const c = (const float *)(flash + MATMULINTEGER_0_C);
    float *const y = (float *)(ram + MATMULINTEGER_0_OUT);
    tw_integer_matmul_i8_i8_f32((tw_integer_matmul_i8_i8_f32_shape){
        .rows = 54, .columns = 18, .depth = 61, .a_row = 61, .b_row = 0, .p_row = 0, .y_row = 18, .a_depth = 1,
        .b_depth = 18, .b_column = 1, .q_column = 0, .y_column = 1, .f_step = 1, .c_step = 1,
    }, a, b, p, (const int8_t *)0, s, f, c, y);
}
