<%doc>
Needs function, signs (of a and b), limit ("i8" or "u8" where results are limited to the whole type, "any" otherwise).
</%doc>\
#include "sum.h"

<%
    load = {name: "TW_XP_LB_BY" if signed else "TW_XP_LBU_BY" for name, signed in signs.items()}
    types = {name: "int8_t" if signed else "uint8_t" for name, signed in signs.items()}
%>\

/* y = clamp(((a * a_factor + b * b_factor + offset) >> shift) + zero_point), `count` times. Pointers move by steps. */
TW_KERNEL void ${function}(int32_t count, const uint8_t *a, int32_t a_step, const uint8_t *b, int32_t b_step, uint8_t *y,
        int32_t y_step, const tw_xp_sum p)
{
    int32_t left = count;
#ifdef TW_XP_ASM
<%
    body = [f"{load[name]}(%[{name}{i}], %[{name}], %[{name}_step])" for name in ("a", "b") for i in range(2)]
    for line in ("TW_XP_MV(%[s{i}], %[offset])", "TW_XP_MAC(%[s{i}], %[a{i}], %[a_factor])",
                 "TW_XP_MAC(%[s{i}], %[b{i}], %[b_factor])", "TW_XP_SRA(%[s{i}], %[s{i}], %[shift])",
                 "TW_XP_ADD(%[s{i}], %[s{i}], %[zero])"):
        body += [line.replace("{i}", str(i)) for i in range(2)]
    if limit == "any":
        body += [f"TW_XP_{which}(%[s{i}], %[s{i}], %[{bound}])" for which, bound in (("MAX", "low"), ("MIN", "high")) for i in range(2)]
    else:
        body += [f"TW_XP_CLIP_{limit.upper()}(%[s{i}], %[s{i}])" for i in range(2)]
    body += [f"TW_XP_SB_BY(%[s{i}], %[y], %[y_step])" for i in range(2)]
%>\
    if (left >= 2) {
        int32_t a0;
        int32_t a1;
        int32_t b0;
        int32_t b1;
        int32_t s0;
        int32_t s1;
        __asm__ volatile(
            TW_XP_LOOP(${len(body)})
% for line in body:
            ${line}
% endfor
            TW_XP_LOOP_END
            : [a] "+&r"(a), [b] "+&r"(b), [y] "+&r"(y), [a0] "=&r"(a0), [a1] "=&r"(a1), [b0] "=&r"(b0), [b1] "=&r"(b1),
              [s0] "=&r"(s0), [s1] "=&r"(s1)
            : [trips] "r"(left >> 1), [a_step] "r"(a_step), [b_step] "r"(b_step), [y_step] "r"(y_step),
              [a_factor] "r"(p.a_factor), [b_factor] "r"(p.b_factor), [offset] "r"(p.offset), [shift] "r"(p.shift),
              [zero] "r"(p.to.zero_point)${', [low] "r"(p.to.low), [high] "r"(p.to.high)' if limit == "any" else ""}
            : "memory");
        left &= 1;
    }
#endif
    for (; left > 0; --left) {
        const int32_t sum = (*(const ${types["a"]} *)a * p.a_factor) + (*(const ${types["b"]} *)b * p.b_factor) + p.offset;
        /* 2^30 keeps the dividend positive, where >> is defined; it is taken off after the clamp (see portable.qadd) */
        const int32_t moved = (int32_t)(((uint32_t)sum + (UINT32_C(1) << 30)) >> p.shift);
        const int32_t zero = (INT32_C(1) << (30 - p.shift)) - p.to.zero_point;
        *y = (uint8_t)(tw_xp_limited(moved, zero + p.to.low, zero + p.to.high) - zero);
        a += a_step;
        b += b_step;
        y += y_step;
    }
}
