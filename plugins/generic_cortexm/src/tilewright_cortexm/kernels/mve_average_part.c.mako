<%doc>
Needs function, sign ("s" or "u", of x), low, high, requantise.
</%doc>\
#include "mve.h"

/* Four channels of `pixels` pixels, added to their sums. */
TW_KERNEL void ${function}_add(const uint8_t *x, int32_t *sums, int32_t pixels, int32_t channels)
{
#ifdef TW_MVE_ARM
    __asm__ volatile(
        "vldrw.32 q0, [%[sums]]\n\t"
        "wls lr, %[pixels], 2f\n\t"
        "1:\n\t"
        "vldrb.${sign}32 q1, [%[x]]\n\t"
        "vadd.i32 q0, q0, q1\n\t"
        "add %[x], %[x], %[channels]\n\t"
        "le lr, 1b\n\t"
        "2:\n\t"
        "vstrw.32 q0, [%[sums]]"
        : [x] "+&l"(x) : [sums] "r"(sums), [pixels] "r"(pixels), [channels] "r"(channels)
        : "lr", "q0", "q1", "cc", "memory");
#else
    for (int32_t i = 0; i < pixels; ++i) {
        for (int32_t k = 0; k < 4; ++k) {
            sums[k] += *(const ${"int8_t" if sign == "s" else "uint8_t"} *)(x + (i * channels) + k);
        }
    }
#endif
}

/* Sums of every channel over `pixels` more of the image, kept in `acc`; with the last of them the mean. */
TW_KERNEL void ${function}(const uint8_t *x, uint8_t *y, int32_t *acc, int32_t pixels, int32_t channels, int32_t first,
        int32_t last, int32_t zeros, int32_t word, int32_t zero_point)
{
    float scale;
    memcpy(&scale, &word, sizeof scale);
    for (int32_t c = 0; c < channels; c += 4) {
        int32_t *const sums = acc + c;
        if (first) {
            sums[0] = sums[1] = sums[2] = sums[3] = -zeros;
        }
        ${function}_add(x + c, sums, pixels, channels);
        for (int32_t k = 0; (k < 4) && last; ++k) {
            y[c + k] = (uint8_t)${requantise}(sums[k], scale, zero_point, ${low}, ${high});
        }
    }
}
