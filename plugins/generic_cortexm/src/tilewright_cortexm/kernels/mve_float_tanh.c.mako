<%doc> Needs function, compute (C function of a float), end, bits (of a float). </%doc>\
#include "mve.h"

/* Four at a time. Below 2^-12, where Helium would lose numbers that are not normal, and of NaN, results are x. */
TW_KERNEL void ${function}(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    (void)x_step;
    (void)y_step;
#ifdef TW_MVE_ARM
    const float *const places = tw_fpu_tanh_places;
    __asm__ volatile(
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrw.u32 q0, [%[x]], #16\n\t"
        "vabs.f32 q1, q0\n\t"
        "vdup.32 q4, %[end]\n\t"
        "vminnm.f32 q3, q1, q4\n\t"
        "vadd.f32 q2, q3, %[whole]\n\t"
        "vsub.f32 q4, q2, %[whole]\n\t"
        "vshl.i32 q2, q2, #4\n\t"
        "vsub.f32 q3, q3, q4\n\t"
        "vbic.i32 q2, #0xff000000\n\t"
        "vldrw.u32 q4, [%[cubic], q2]\n\t"
        "vldrw.u32 q5, [%[square], q2]\n\t"
        "vfma.f32 q5, q4, q3\n\t"
        "vldrw.u32 q6, [%[linear], q2]\n\t"
        "vfma.f32 q6, q5, q3\n\t"
        "vldrw.u32 q7, [%[first], q2]\n\t"
        "vfma.f32 q7, q6, q3\n\t"
        "vpt.f32 lt, q0, zr\n\t"
        "vnegt.f32 q7, q7\n\t"
        "vpt.f32 lt, q1, %[least]\n\t"
        "vorrt q7, q0, q0\n\t"
        "vstrw.32 q7, [%[y]], #16\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&l"(x), [y] "+&l"(y)
        : [count] "r"(count), [cubic] "r"(places), [square] "r"(places + 1), [linear] "r"(places + 2),
          [first] "r"(places + 3), [end] "r"(${bits(end)}), [whole] "r"(${bits(3 * 2**18)}), [least] "r"(${bits(2**-12)})
        : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
#else
    for (int32_t i = 0; i < count; ++i) {
        y[i] = ${compute}(x[i]);
    }
#endif
}
