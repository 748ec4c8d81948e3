<%doc>
Needs limit (see finish.c), summed (the name), signs (of results and of what is added, True where they have one), to ("i8" or
"u8" where sums are limited to the whole type, "any" otherwise).
</%doc>\
#include "sum.h"
<%
    types = ["int8_t" if signed else "uint8_t" for signed in signs]
    shifted = limit.startswith("shift_")
%>\

/* clamp((result * a_factor + more * b_factor + offset) >> shift): the zero point is in the offset. */
TW_KERNEL uint8_t ${summed}_one(int32_t result, int32_t more, const tw_xp_sum *p)
{
    int32_t sum = p->offset;
#ifdef TW_XP_ASM
    __asm__(
        TW_XP_MAC(%0, %1, %2)
        TW_XP_MAC(%0, %3, %4)
        TW_XP_SRA(%0, %0, %5)
        : "+&r"(sum)
        : "r"(result), "r"(p->a_factor), "r"(more), "r"(p->b_factor), "r"(p->shift));
#else
    sum += (result * p->a_factor) + (more * p->b_factor);
    sum = (sum < 0) ? ~(~sum >> p->shift) : (sum >> p->shift);
#endif
% if to == "any":
    return (uint8_t)tw_xp_limited(sum, p->to.low, p->to.high);
% else:
    return (uint8_t)tw_xp_clip_${to}(sum);
% endif
}

/* Four channels of `pixels` pixels, 1 or 2, or the first `count` of them. `b` holds four biases, then what finishes four
 * sums of products; `more0` and `more1` are added to results, and may be where these are stored. */
TW_KERNEL void ${summed}(int32_t pixels, const int32_t *acc, const int32_t *b, int32_t count, tw_xp_limits to,
        const tw_xp_sum *p, const uint8_t *more0, const uint8_t *more1, uint8_t *y0, uint8_t *y1)
{
    const ${types[1]} *const m0 = (const ${types[1]} *)more0;
    const ${types[1]} *const m1 = (const ${types[1]} *)more1;
<%
    def result(j, word):
        sums = f"acc[{j}], b[{word}]" if shifted else f"(float)acc[{j}] * tw_xp_scale(b + {word})"
        if limit in ("i8", "u8"):  # as `finished` has it, without a cast to the type in which it is anyhow
            return f"tw_xp_clip_{limit}(tw_xp_nearest({sums}) + to.zero_point)"
        return f"({types[0]})tw_xp_finished_{limit}({sums}, to)"
%>\
    if (count < 4) { /* no index into acc is a variable: it stays in registers */
% for j in range(3):
        if (count > ${j}) {
            y0[${j}] = ${summed}_one(${result(j, 4 + j)}, m0[${j}], p);
            if (pixels == 2) {
                y1[${j}] = ${summed}_one(${result(4 + j, 4 + j)}, m1[${j}], p);
            }
        }
% endfor
        return;
    }
% for pixel in range(2):
% if pixel:
    if (pixels == 1) {
        return;
    }
% endif
% for j in range(4):
    const int32_t n${4 * pixel + j} = m${pixel}[${j}];
% endfor
% for j in range(4):
    const int32_t r${4 * pixel + j} = ${result(4 * pixel + j, 4 + j)};
% endfor
% for j in range(4):
    y${pixel}[${j}] = ${summed}_one(r${4 * pixel + j}, n${4 * pixel + j}, p);
% endfor
% endfor
}
