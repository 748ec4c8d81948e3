<%doc> Needs function, near (whether neighbours are next to each other), sign ("s" or "u", of x). </%doc>\
#include "mve.h"

<%
    x_type = "int8_t" if sign == "s" else "uint8_t"
%>\
% if near:
#ifdef TW_MVE_ARM
TW_KERNEL int32_t ${function}_largest(const uint8_t *x, int32_t count)
{
    int32_t largest = ${-128 if sign == "s" else 0};
    __asm__ volatile(
        "wlstp.8 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.u8 q0, [%[x]], #16\n\t"
        "vmaxv.${sign}8 %[largest], q0\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&r"(x), [largest] "+&r"(largest) : [count] "r"(count) : "lr", "q0", "cc", "memory");
    return largest;
}

/* The sum of the exponentials. t has a zero at `entries`. */
TW_KERNEL uint64_t ${function}_sum(const uint8_t *x, int32_t count, int32_t largest, int32_t entries, const uint32_t *t)
{
    register uint32_t low __asm__("r2") = 0, high __asm__("r3") = 0; /* an even and an odd one */
    __asm__ volatile(
        "vdup.32 q2, %[largest]\n\t"
        "vdup.32 q3, %[entries]\n\t"
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.${sign}32 q0, [%[x]], #4\n\t"
        "vsub.i32 q0, q2, q0\n\t"
        "vmin.u32 q0, q0, q3\n\t"
        "vldrw.u32 q1, [%[t], q0, uxtw #2]\n\t"
        "vaddlva.u32 %[low], %[high], q1\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&l"(x), [low] "+&r"(low), [high] "+&r"(high)
        : [t] "r"(t), [count] "r"(count), [largest] "r"(largest), [entries] "r"(entries)
        : "lr", "q0", "q1", "q2", "q3", "cc", "memory");
    return ((uint64_t)high << 32) | low;
}

/* y = clamp((e + divisor / 2) / divisor + zero_point). A quotient is below 2^17, so that a float of it, a little too
 * small, is off by less than one: it is raised where the rest is no smaller than the divisor. */
TW_KERNEL void ${function}_divided(const uint8_t *x, int32_t count, int32_t largest, int32_t entries,
        const uint32_t *t, uint32_t divisor, uint8_t *y, int32_t zero_point, int32_t low, int32_t high)
{
    const union { float value; uint32_t bits; } inverse = {.value = (1.0f - 0x1p-21f) / (float)divisor};
    const int32_t fixed[] = {largest, entries, low, high}; /* more registers than there are */
    __asm__ volatile(
% for at in range(4):
        "ldr lr, [%[fixed], #${4 * at}]\n\t"
        "vdup.32 q${2 + at}, lr\n\t"
% endfor
        "vmov.i32 q7, #1\n\t"
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.${sign}32 q0, [%[x]], #4\n\t"
        "vsub.i32 q0, q2, q0\n\t"
        "vmin.u32 q0, q0, q3\n\t"
        "vldrw.u32 q1, [%[t], q0, uxtw #2]\n\t"
        "vadd.i32 q1, q1, %[half]\n\t"
        "vcvt.f32.u32 q0, q1\n\t"
        "vmul.f32 q0, q0, %[inverse]\n\t"
        "vcvt.u32.f32 q0, q0\n\t"
        "vmul.i32 q6, q0, %[divisor]\n\t"
        "vsub.i32 q1, q1, q6\n\t"
        "vpt.u32 cs, q1, %[divisor]\n\t"
        "vaddt.i32 q0, q0, q7\n\t"
        "vadd.i32 q0, q0, %[zero_point]\n\t"
        "vmax.s32 q0, q0, q4\n\t"
        "vmin.s32 q0, q0, q5\n\t"
        "vstrb.32 q0, [%[y]], #4\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&l"(x), [y] "+&l"(y)
        : [t] "r"(t), [count] "r"(count), [fixed] "r"(fixed), [half] "r"(divisor / 2), [inverse] "r"(inverse.bits),
          [divisor] "r"(divisor), [zero_point] "r"(zero_point)
        : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}
#endif
% endif

/* One row; see QSoftmax. */
TW_KERNEL void ${function}(const uint8_t *x, const uint32_t *t, uint8_t *y, int32_t count, int32_t x_step,
        int32_t y_step, int32_t entries, uint32_t scale, int32_t zero_point, int32_t low, int32_t high)
{
% if near:
#ifdef TW_MVE_ARM
    const int32_t largest = ${function}_largest(x, count);
    const uint64_t sum = ${function}_sum(x, count, largest, entries, t);
    const uint32_t divisor = (uint32_t)(((sum * scale) + (UINT64_C(1) << 30)) >> 31);
    (void)x_step;
    (void)y_step;
    ${function}_divided(x, count, largest, entries, t, divisor, y, zero_point, low, high);
#else
% endif
    int32_t largest = ${-128 if sign == "s" else 0};
    uint64_t sum = 0;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t v = *(const ${x_type} *)(x + (i * x_step));
        largest = (v > largest) ? v : largest;
    }
    for (int32_t i = 0; i < count; ++i) {
        const int32_t below = largest - *(const ${x_type} *)(x + (i * x_step));
        sum += t[(below < entries) ? below : entries];
    }
    const uint32_t divisor = (uint32_t)(((sum * scale) + (UINT64_C(1) << 30)) >> 31);
    for (int32_t i = 0; i < count; ++i) {
        const int32_t below = largest - *(const ${x_type} *)(x + (i * x_step));
        const int32_t q = (int32_t)((t[(below < entries) ? below : entries] + (divisor / 2)) / divisor) + zero_point;
        y[i * y_step] = (uint8_t)((q < low) ? low : ((q > high) ? high : q));
    }
% if near:
#endif
% endif
}
