<%doc> Needs function, near (whether neighbours are next to each other), flip (128 where x is signed, or 0). </%doc>\
#include "mve.h"

/* y = t[x], t beginning with the entry of the lowest x. */
TW_KERNEL void ${function}(const uint8_t *x, int32_t x_step, const uint8_t *t, uint8_t *y, int32_t y_step,
        int32_t count)
{
% if near:
#ifdef TW_MVE_ARM
    (void)x_step;
    (void)y_step;
    __asm__ volatile(
% if flip:
        "vmov.i8 q1, #${flip}\n\t"
% endif
        "wlstp.8 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.u8 q0, [%[x]], #16\n\t"
% if flip:
        "veor q0, q0, q1\n\t"
% endif
        "vldrb.u8 q2, [%[t], q0]\n\t"
        "vstrb.8 q2, [%[y]], #16\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&r"(x), [y] "+&r"(y) : [t] "r"(t), [count] "r"(count) : "lr", "q0", "q1", "q2", "cc", "memory");
#else
% endif
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = t[x[i * x_step]${f" ^ {flip}" if flip else ""}];
    }
% if near:
#endif
% endif
}
