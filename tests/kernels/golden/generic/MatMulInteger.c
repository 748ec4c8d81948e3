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

/* y = (a - zero of its row) . (b - zero of its column), summed modulo 2^32. */
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
} tw_integer_matmul_i8_i8_shape;

TW_KERNEL void tw_integer_matmul_i8_i8(const tw_integer_matmul_i8_i8_shape s, const int8_t *a, const int8_t *b,
                           const int8_t *row_zeros, const int8_t *column_zeros, int32_t *y)
{
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
            y[(m * s.y_row) + (n * s.y_column)] = (int32_t)sum;
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: MatMulInteger
 *   nodes    matmulinteger_0
 *   kernel   portable.matmul_integer
 *   A        i8[2,27,61]   ram [7560, 10854)   matmulinteger_0_in0
 *   B        i8[61,35]     ram [10856, 12991)  matmulinteger_0_in1
 *   P        i8[1]         ram [13028, 13029)  matmulinteger_0_in2
 *   Q        i8[35]        ram [12992, 13027)  matmulinteger_0_in3
 *   Y        i32[2,27,35]  ram [0, 7560)       matmulinteger_0_out0
 */
TW_STEP void net_0_matmulinteger(uint8_t *ram)
{
    const int8_t *const a = (const int8_t *)(ram + IN_MATMULINTEGER_0_IN0);
    const int8_t *const b = (const int8_t *)(ram + IN_MATMULINTEGER_0_IN1);
    const int8_t *const p = (const int8_t *)(ram + IN_MATMULINTEGER_0_IN2);
    const int8_t *const q = (const int8_t *)(ram + IN_MATMULINTEGER_0_IN3);
    int32_t *const y = (int32_t *)(ram + MATMULINTEGER_0_OUT);
    tw_integer_matmul_i8_i8((tw_integer_matmul_i8_i8_shape){
        .rows = 54, .columns = 35, .depth = 61, .a_row = 61, .b_row = 0, .p_row = 0, .y_row = 35, .a_depth = 1,
        .b_depth = 35, .b_column = 1, .q_column = 1, .y_column = 1,
    }, a, b, p, q, y);
}
