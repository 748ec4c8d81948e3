<%doc> Needs function, compute (C function of a float), exponential (see float_functions), bits, c_floats. </%doc>\
#include "mve.h"

<%
    log2e, ln2 = exponential.log2e, exponential.ln2
    coefficients = [value * (-1) ** power for power, value in zip(range(6, -1, -1), exponential.coefficients, strict=True)]
%>\

/* Four at a time: 2^-24 / (2^-24 + 2^-24 exp(-x)), all of it normal numbers; -x = n ln2 + r, and r has the other sign.
 * What is divided by the unit of single floats may be none. At most 2.6 units of 2^-24 off. */
TW_KERNEL void ${function}(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    (void)x_step;
    (void)y_step;
#ifdef TW_MVE_ARM
    static const float rest[] = {${", ".join(c_floats(*coefficients[2:], 2**-24, -104.0, 60.0))}};
    int32_t a;
    int32_t b;
    __asm__ volatile(
        "ldrd %[a], %[b], [%[rest], #24]\n\t"
        "vdup.32 q5, %[a]\n\t"
        "vdup.32 q6, %[b]\n\t"
        "ldr %[a], [%[rest], #20]\n\t"
        "vdup.32 q7, %[a]\n\t"
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrw.u32 q0, [%[x]], #16\n\t"
        "vmaxnm.f32 q1, q0, q5\n\t"
        "vminnm.f32 q1, q1, q6\n\t"
        "vmul.f32 q2, q1, %[log2e]\n\t"
        "vadd.f32 q2, q2, %[whole]\n\t"
        "vsub.f32 q4, q2, %[whole]\n\t"
        "vshl.i32 q2, q2, #23\n\t"
        "vfma.f32 q1, q4, %[high]\n\t"
        "vfma.f32 q1, q4, %[low]\n\t"
        "ldrd %[a], %[b], [%[rest]]\n\t"
        "vmul.f32 q3, q1, %[sixth]\n\t"
        "vadd.f32 q3, q3, %[fifth]\n\t"
        "vfmas.f32 q3, q1, %[a]\n\t"
        "vfmas.f32 q3, q1, %[b]\n\t"
        "ldrd %[a], %[b], [%[rest], #8]\n\t"
        "vfmas.f32 q3, q1, %[a]\n\t"
        "vfmas.f32 q3, q1, %[b]\n\t"
        "ldrd %[a], %[b], [%[rest], #16]\n\t"
        "vfmas.f32 q3, q1, %[a]\n\t"
        "vfmas.f32 q3, q2, %[b]\n\t"
% for lane in range(4):
        "vdiv.f32 s${12 + lane}, s28, s${12 + lane}\n\t"
% endfor
        "vpt.f32 ne, q0, q0\n\t"
        "vorrt q3, q0, q0\n\t"
        "vstrw.32 q3, [%[y]], #16\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&r"(x), [y] "+&r"(y), [a] "=&r"(a), [b] "=&r"(b)
        : [count] "r"(count), [rest] "r"(rest), [log2e] "r"(${bits(-log2e)}), [whole] "r"(${bits(3 * 2**22 + 103)}),
          [high] "r"(${bits(ln2[0])}), [low] "r"(${bits(ln2[1])}), [sixth] "r"(${bits(coefficients[0])}),
          [fifth] "r"(${bits(coefficients[1])})
        : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
#else
    for (int32_t i = 0; i < count; ++i) {
        y[i] = ${compute}(x[i]);
    }
#endif
}
