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

/* Two values, each times its own factor: the sum is rounded at a shift, moved and clamped. */
typedef struct {
    int64_t a_factor, b_factor, offset;
    int32_t shift;
    uint32_t ties; /* 1: halves go to the even neighbour, offset holds no half. 0: offset holds it, no half occurs */
    int32_t zero_point;
    int32_t low;
    int32_t high;
} tw_qadd_int64;

/* Unsigned arithmetic, with 2^62 added so that nothing is negative: >> is defined, and parity is kept. That is
 * taken off after the clamp, not before: gcc 12 computes the clamp of a difference of small constants in 16 bits, and
 * takes its sign for a large number. */
TW_KERNEL int32_t tw_qadd_rounded_int64(int32_t a, int32_t b, tw_qadd_int64 p)
{
    const uint64_t sum = (uint64_t)(a * p.a_factor) + (uint64_t)(b * p.b_factor)
        + (uint64_t)p.offset + (UINT64_C(1) << 62);
    const uint64_t up = p.ties ? ((UINT64_C(1) << (p.shift - 1)) - 1 + ((sum >> p.shift) & 1)) : 0;
    const int64_t rounded = (int64_t)((sum + up) >> p.shift);
    const int64_t zero = (INT64_C(1) << (62 - p.shift)) - p.zero_point;
    const int64_t low = zero + p.low, high = zero + p.high;
    return (int32_t)(((rounded < low) ? low : ((rounded > high) ? high : rounded)) - zero);
}

TW_KERNEL void tw_qadd_i8_i8_i8_acc64_3(int32_t n0, int32_t n1, int32_t n2, const int8_t *a_in, int32_t a0, int32_t a1,
        int32_t a2, const int8_t *b_in, int32_t b0, int32_t b1, int32_t b2, int8_t *y_out, int32_t y0, int32_t y1,
        int32_t y2, tw_qadd_int64 p)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const int8_t a = a_in[i0 * a0 + i1 * a1 + i2 * a2];
                const int8_t b = b_in[i0 * b0 + i1 * b1 + i2 * b2];
                y_out[i0 * y0 + i1 * y1 + i2 * y2] = (int8_t)tw_qadd_rounded_int64(a, b, p);
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QAdd
 *   nodes    qadd_0
 *   kernel   portable.qadd
 *   A        i8[8,29,31]  ram [0, 7192)       qadd_0_in0
 *   B        i8[29,1]     ram [14384, 14413)  qadd_0_in1
 *   Y        i8[8,29,31]  ram [7192, 14384)   qadd_0_out0
 */
TW_STEP void net_0_qadd(uint8_t *ram)
{
    const int8_t *const a = (const int8_t *)(ram + IN_QADD_0_IN0);
    const int8_t *const b = (const int8_t *)(ram + IN_QADD_0_IN1);
    int8_t *const y = (int8_t *)(ram + QADD_0_OUT);
    tw_qadd_i8_i8_i8_acc64_3(8, 29, 31, a, 899, 31, 1, b, 0, 1, 0, y, 899, 31, 1, (tw_qadd_int64){
        .a_factor = INT64_C(7926335344172073), .b_factor = INT64_C(5044031582654956),
        .offset = INT64_C(1441151880758561), .shift = 56, .ties = 1, .zero_point = 2, .low = -128, .high = 127,
    });
}
