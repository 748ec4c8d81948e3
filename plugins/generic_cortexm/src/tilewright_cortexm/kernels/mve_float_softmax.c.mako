<%doc> Needs function, exponential (see float_functions), bits, c_floats. </%doc>\
#include "mve.h"
#include <math.h>

<% coefficients, ln2 = exponential.coefficients, exponential.ln2 %>\
#ifdef TW_MVE_ARM
/* The largest element, NaN aside. */
TW_KERNEL float ${function}_largest(int32_t count, const float *x)
{
    uint32_t largest = tw_fpu_bits(-INFINITY);
    __asm__ volatile(
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrw.u32 q0, [%[x]], #16\n\t"
        "vmaxnmv.f32 %[largest], q0\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&r"(x), [largest] "+&r"(largest) : [count] "r"(count) : "lr", "q0", "cc", "memory");
    return tw_fpu_from(largest);
}

/* y = exp(x - largest) 2^64, all of it normal numbers, and their sum; NaN where x or largest is. */
TW_KERNEL float ${function}_shares(int32_t count, const float *x, float *y, float largest)
{
    static const float rest[] = {${", ".join(c_floats(-ln2[0], -ln2[1], *coefficients[2:6], -105.0))}};
    float sums[4];
    int32_t a;
    int32_t b;
    __asm__ volatile(
        "ldr %[a], [%[rest], #24]\n\t"
        "vdup.32 q5, %[a]\n\t"
        "vmov.i32 q6, #0\n\t"
        "vdup.32 q7, %[largest]\n\t"
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrw.u32 q0, [%[x]], #16\n\t"
        "vsub.f32 q0, q0, q7\n\t"
        "vpt.f32 gt, q5, q0\n\t"
        "vorrt q0, q5, q5\n\t"
        "ldrd %[a], %[b], [%[rest]]\n\t"
        "vmul.f32 q2, q0, %[log2e]\n\t"
        "vadd.f32 q2, q2, %[whole]\n\t"
        "vsub.f32 q4, q2, %[whole]\n\t"
        "vshl.i32 q2, q2, #23\n\t"
        "vfma.f32 q0, q4, %[a]\n\t"
        "vfma.f32 q0, q4, %[b]\n\t"
        "ldrd %[a], %[b], [%[rest], #8]\n\t"
        "vmul.f32 q3, q0, %[sixth]\n\t"
        "vadd.f32 q3, q3, %[fifth]\n\t"
        "vfmas.f32 q3, q0, %[a]\n\t"
        "vfmas.f32 q3, q0, %[b]\n\t"
        "ldrd %[a], %[b], [%[rest], #16]\n\t"
        "vfmas.f32 q3, q0, %[a]\n\t"
        "vfmas.f32 q3, q0, %[b]\n\t"
        "vfmas.f32 q3, q0, %[b]\n\t"
        "vmul.f32 q3, q3, q2\n\t"
        "vadd.f32 q6, q6, q3\n\t"
        "vstrw.32 q3, [%[y]], #16\n\t"
        "letp lr, 1b\n\t"
        "2:\n\t"
        "vstrw.32 q6, [%[sums]]"
        : [x] "+&l"(x), [y] "+&l"(y), [a] "=&r"(a), [b] "=&r"(b)
        : [count] "r"(count), [rest] "r"(rest), [sums] "l"(sums), [largest] "r"(tw_fpu_bits(largest)),
          [log2e] "r"(${bits(exponential.log2e)}), [whole] "r"(${bits(3 * 2**22 + 191)}), [sixth] "r"(${bits(coefficients[0])}),
          [fifth] "r"(${bits(coefficients[1])})
        : "lr", "q0", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* y = y share, by the unit of single floats: results may be no normal numbers. */
TW_KERNEL void ${function}_scaled(int32_t count, float *y, float share)
{
    __asm__ volatile(
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrw.u32 q0, [%[y]]\n\t"
% for lane in range(4):
        "vmul.f32 s${lane}, s${lane}, %[share]\n\t"
% endfor
        "vstrw.32 q0, [%[y]], #16\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [y] "+&r"(y) : [count] "r"(count), [share] "t"(share) : "lr", "q0", "cc", "memory");
}
#endif

/* One row: y = exp(x - max) / sum(exp(x - max)). A NaN, or an infinite largest element, makes the whole row NaN. */
TW_KERNEL void ${function}(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
#ifdef TW_MVE_ARM
    (void)x_step;
    (void)y_step;
    const float sum = ${function}_shares(count, x, y, ${function}_largest(count, x));
    ${function}_scaled(count, y, 1.0f / sum);
#else
    ${in_c}(count, x, x_step, y, y_step);
#endif
}
