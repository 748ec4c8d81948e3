<%doc> Needs function, in_c (the same in C), left and right (what differences are shifted by). </%doc>\
#include "mve.h"

#ifdef TW_MVE_ARM
TW_KERNEL int32_t ${function}_largest(const int16_t *x, int32_t count)
{
    int32_t largest = -32768;
    __asm__ volatile(
        "wlstp.16 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrh.u16 q0, [%[x]], #16\n\t"
        "vmaxv.s16 %[largest], q0\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&l"(x), [largest] "+&r"(largest) : [count] "r"(count) : "lr", "q0", "cc", "memory");
    return largest;
}

/* The exponentials, and their sum. */
TW_KERNEL int32_t ${function}_entries(const int16_t *x, const int16_t *t, int16_t *y, int32_t count, int32_t largest,
        int32_t multiplier)
{
    register int32_t sum __asm__("r2") = 0; /* an even one */
    __asm__ volatile(
        "vmov.i32 q4, #0\n\t"
        "vmov.i32 q5, #127\n\t"
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrh.s32 q0, [%[x]], #8\n\t"
        "vsub.i32 q0, q0, %[largest]\n\t"
% if left:
        "vshl.i32 q0, q0, #${left}\n\t"
% endif
        "vqrdmulh.s32 q0, q0, %[multiplier]\n\t"
% if right:
        "vshr.s32 q1, q0, #31\n\t"
        "vadd.i32 q0, q0, q1\n\t"
        "vrshr.s32 q0, q0, #${right}\n\t"
% endif
        "vadd.i32 q0, q0, %[top]\n\t"
        "vmax.s32 q0, q0, q4\n\t"
        "vshr.u32 q1, q0, #7\n\t"
        "vldrh.s32 q2, [%[t], q1, uxtw #1]\n\t"
        "vand q0, q0, q5\n\t"
        "vldrh.s32 q3, [%[next], q1, uxtw #1]\n\t"
        "vsub.i32 q3, q3, q2\n\t"
        "vmul.i32 q3, q3, q0\n\t"
        "vrshr.s32 q3, q3, #7\n\t"
        "vadd.i32 q2, q2, q3\n\t"
        "vaddva.s32 %[sum], q2\n\t"
        "vstrh.32 q2, [%[y]], #8\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&l"(x), [y] "+&l"(y), [sum] "+&r"(sum)
        : [t] "r"(t), [next] "r"(t + 1), [count] "r"(count), [largest] "r"(largest), [multiplier] "r"(multiplier),
          [top] "r"(65535)
        : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory");
    return sum;
}

TW_KERNEL void ${function}_scaled(int16_t *y, int32_t count, int32_t factor, int32_t shift)
{
    __asm__ volatile(
        "vdup.32 q1, %[most]\n\t"
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrh.u32 q0, [%[y]]\n\t"
        "vmul.i32 q0, q0, %[factor]\n\t"
        "vrshl.s32 q0, %[amount]\n\t"
        "vmin.s32 q0, q0, q1\n\t"
        "vstrh.32 q0, [%[y]], #8\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [y] "+&l"(y) : [count] "r"(count), [factor] "r"(factor), [amount] "r"(-shift), [most] "r"(32767)
        : "lr", "q0", "q1", "cc", "memory");
}
#endif

/* One row; see QSoftmax, `tflm`. Exponentials wait in y for their sum. */
TW_KERNEL void ${function}(const int16_t *x, const int16_t *t, int16_t *y, int32_t count, int32_t x_step,
        int32_t y_step, int32_t multiplier)
{
#ifdef TW_MVE_ARM
    const int32_t sum = ${function}_entries(x, t, y, count, ${function}_largest(x, count), multiplier);
    int32_t shift = 0;
    const int32_t factor = ${in_c}_reciprocal(t, sum, &shift);
    (void)x_step;
    (void)y_step;
    ${function}_scaled(y, count, factor, shift);
#else
    ${in_c}(x, t, y, count, x_step, y_step, multiplier);
#endif
}
