<%doc> Needs function. </%doc>\
#include "float_block.h"
#include "mve.h"

/* Four channels of `pixels` pixels, added to their sums. */
TW_KERNEL void ${function}_add(const float *x, float *sums, int32_t pixels, int32_t channels)
{
#ifdef TW_MVE_ARM
    const int32_t step = 4 * channels;
    __asm__ volatile(
        "vldrw.32 q0, [%[sums]]\n\t"
        "wls lr, %[pixels], 2f\n\t"
        "1:\n\t"
        "vldrw.u32 q1, [%[x]]\n\t"
        "add %[x], %[x], %[step]\n\t"
        "vadd.f32 q0, q0, q1\n\t"
        "le lr, 1b\n\t"
        "2:\n\t"
        "vstrw.32 q0, [%[sums]]"
        : [x] "+&r"(x) : [sums] "r"(sums), [pixels] "r"(pixels), [step] "r"(step)
        : "lr", "q0", "q1", "cc", "memory");
#else
    for (int32_t i = 0; i < pixels; ++i) {
        for (int32_t k = 0; k < 4; ++k) {
            sums[k] += x[(i * channels) + k];
        }
    }
#endif
}

/* Sums of every channel over `pixels` more of the image, kept in `acc`; with the last of them the mean. */
TW_KERNEL void ${function}(const float *x, float *y, float *acc, int32_t pixels, int32_t channels, int32_t first,
        int32_t last, int32_t counted, float low, float high)
{
    const float scale = 1.0f / (float)counted;
    for (int32_t c = 0; c < channels; c += 4) {
        float *const sums = acc + c;
        if (first) {
            sums[0] = sums[1] = sums[2] = sums[3] = 0.0f;
        }
        ${function}_add(x + c, sums, pixels, channels);
        for (int32_t k = 0; (k < 4) && last; ++k) {
            y[c + k] = tw_float_clip(sums[k] * scale, low, high);
        }
    }
}
