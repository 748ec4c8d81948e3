<%doc> Needs function, widen_a, widen_b ("s32" or "u32"), low, high. </%doc>\
<%
    narrow = "vqmovnb.s16" if low < 0 else "vqmovunb.s16"
%>\
#ifndef ${function.upper()}
#define ${function.upper()}
/* y = clamp(((a * a_factor + b * b_factor + offset) >> shift) + zero_point), four at a time; see QAdd. */
TW_KERNEL void ${function}(const uint8_t *a, const uint8_t *b, uint8_t *y, int32_t count, int32_t a_factor,
        int32_t b_factor, int32_t offset, int32_t shift, int32_t zero_point)
{
#ifdef TW_MVE_ARM
    __asm__ volatile(
        "vdup.32 q2, %[offset]\n\t"
        "wlstp.32 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.${widen_a} q0, [%[a]], #4\n\t"
        "vldrb.${widen_b} q1, [%[b]], #4\n\t"
        "vmul.i32 q0, q0, %[a_factor]\n\t"
        "vmul.i32 q1, q1, %[b_factor]\n\t"
        "vadd.i32 q0, q0, q2\n\t"
        "vadd.i32 q0, q0, q1\n\t"
        "vshl.s32 q0, %[right]\n\t"
        "vadd.i32 q0, q0, %[zero_point]\n\t"
        "vqmovnb.s32 q0, q0\n\t"
        "${narrow} q0, q0\n\t"
        "vstrb.32 q0, [%[y]], #4\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [a] "+l"(a), [b] "+l"(b), [y] "+l"(y)
        : [count] "r"(count), [a_factor] "r"(a_factor), [b_factor] "r"(b_factor), [offset] "r"(offset),
          [right] "r"(-shift), [zero_point] "r"(zero_point)
        : "lr", "q0", "q1", "q2", "cc", "memory");
#else
    for (int32_t i = 0; i < count; ++i) {
        const int32_t sum = *(const ${"int8_t" if widen_a == "s32" else "uint8_t"} *)(a + i) * a_factor
            + *(const ${"int8_t" if widen_b == "s32" else "uint8_t"} *)(b + i) * b_factor + offset;
        const int32_t q = (sum >> shift) + zero_point;
        y[i] = (uint8_t)(q < ${low} ? ${low} : (q > ${high} ? ${high} : q));
    }
#endif
}
#endif
