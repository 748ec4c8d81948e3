#include <stdint.h>
#include <math.h>
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
TW_KERNEL void tw_clip_f32_1(int32_t n0, const float *x_in, int32_t x0, float *y_out, int32_t y0, float low, float high)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        const float x = x_in[i0 * x0];
        y_out[i0 * y0] = x < low ? low : (x > high ? high : x);
    }
}
void tw_test(void *const *tw_p);
void tw_test(void *const *tw_p)
{
    tw_clip_f32_1(2415, ((const float *)tw_p[0]), 1, ((float *)tw_p[1]), 1, -0x1.0000000000000p-1f, 0x1.8000000000000p+0f);
    (void)tw_p;
}
