<%doc>
Needs limit: "i8" or "u8" where results are limited to the whole type, "any" otherwise; the same behind "shift_" where sums
are multiplied and shifted, behind "shift_wide_" where that takes 64 bits.
</%doc>\
#include "xpulp.h"
<% shifted, wide, limit_of = limit.startswith("shift_"), "_wide_" in limit, limit.split("_")[-1] %>\

% if shifted:
/* (acc * m + r) >> shift, limited: m is the lower half of the word, r the upper one, and the shift is in the place of a
 * zero point. */
TW_KERNEL uint8_t tw_xp_finished_${limit}(int32_t acc, int32_t word, tw_xp_limits to)
{
% if wide:
    const int64_t sum = (int64_t)acc * (int32_t)(word & 0xffff) + (int64_t)((uint32_t)word >> 16);
    const int64_t q = (sum < 0) ? ~(~sum >> to.zero_point) : (sum >> to.zero_point);
    return (uint8_t)((q < to.low) ? to.low : ((q > to.high) ? to.high : (int32_t)q));
% else:
    const uint32_t bits = (uint32_t)acc * ((uint32_t)word & 0xffff) + ((uint32_t)word >> 16);
    int32_t q = (int32_t)bits;
#ifdef TW_XP_ASM
    __asm__("sra %0, %0, %1" : "+r"(q) : "r"(to.zero_point));
#else
    q = (q < 0) ? ~(~q >> to.zero_point) : (q >> to.zero_point);
#endif
% if limit_of == "any":
    return (uint8_t)tw_xp_limited(q, to.low, to.high);
% else:
    return (uint8_t)tw_xp_clip_${limit_of}(q);
% endif
% endif
}

/* Four channels of `pixels` pixels, 1 or 2, or the first `count` of them. `b` holds four biases, then four words. */
TW_KERNEL void tw_xp_finish_${limit}(int32_t pixels, const int32_t *acc, const int32_t *b, int32_t count,
        tw_xp_limits to, uint8_t *y0, uint8_t *y1)
{
    if (count < 4) { /* no index into acc is a variable: it stays in registers */
% for j in range(3):
        if (count > ${j}) {
            y0[${j}] = tw_xp_finished_${limit}(acc[${j}], b[${4 + j}], to);
            if (pixels == 2) {
                y1[${j}] = tw_xp_finished_${limit}(acc[${4 + j}], b[${4 + j}], to);
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
    y${pixel}[${j}] = tw_xp_finished_${limit}(acc[${4 * pixel + j}], b[${4 + j}], to);
% endfor
% endfor
}
% else:
/* clamp(rne(value) + zero_point). Limits of "any" are less the zero point. */
TW_KERNEL uint8_t tw_xp_finished_${limit}(float value, tw_xp_limits to)
{
% if limit == "any":
    return (uint8_t)(tw_xp_rounded(value, to.low, to.high) + to.zero_point);
% else:
    return (uint8_t)tw_xp_clip_${limit}(tw_xp_nearest(value) + to.zero_point);
% endif
}

/* Four channels of `pixels` pixels, 1 or 2, or the first `count` of them. `b` holds four biases, then four scales. */
TW_KERNEL void tw_xp_finish_${limit}(int32_t pixels, const int32_t *acc, const int32_t *b, int32_t count,
        tw_xp_limits to, uint8_t *y0, uint8_t *y1)
{
    if (count < 4) { /* no index into acc is a variable: it stays in registers */
% for j in range(3):
        if (count > ${j}) {
            const float scale = tw_xp_scale(b + ${4 + j});
            y0[${j}] = tw_xp_finished_${limit}((float)acc[${j}] * scale, to);
            if (pixels == 2) {
                y1[${j}] = tw_xp_finished_${limit}((float)acc[${4 + j}] * scale, to);
            }
        }
% endfor
        return;
    }
    const float s0 = tw_xp_scale(b + 4);
    const float s1 = tw_xp_scale(b + 5);
    const float s2 = tw_xp_scale(b + 6);
    const float s3 = tw_xp_scale(b + 7);
% for pixel in range(2):
% if pixel:
    if (pixels == 1) {
        return;
    }
% endif
<% v = [f"v{4 * pixel + j}" for j in range(4)] %>\
% for j in range(4):
    const float ${v[j]} = (float)acc[${4 * pixel + j}] * s${j};
% endfor
% for j in range(4):
    y${pixel}[${j}] = tw_xp_finished_${limit}(${v[j]}, to);
% endfor
% endfor
}
% endif
