<%doc>
Needs function, flip (128 where x is unsigned, or 0), shapes (of blocks: first output, how many blocks, channels in
each), depth (values in all), kind, stored (see mve_requant.py), low, high.
</%doc>\
#include "mve.h"

% for _, _, channels in shapes:
/* Products of `steps` times sixteen values with those of one of ${channels} channels, added to a sum. */
TW_KERNEL int32_t ${function}_dot_${channels}(const uint8_t *x, const int8_t *w, int32_t steps, int32_t sum)
{
#ifdef TW_MVE_ARM
    __asm__ volatile(
% if flip:
        "vmov.i8 q2, #128\n\t"
% endif
        "wls lr, %[steps], 2f\n\t"
        "1:\n\t"
        "vldrb.8 q0, [%[x]], #16\n\t"
% if flip:
        "veor q0, q0, q2\n\t"
% endif
        "vldrb.8 q1, [%[w]], #${16 * channels}\n\t"
        "vmladava.s8 %[sum], q0, q1\n\t"
        "le lr, 1b\n\t"
        "2:"
        : [x] "+&l"(x), [w] "+&l"(w), [sum] "+&Te"(sum) : [steps] "r"(steps)
        : "lr", "q0", "q1",${' "q2",' if flip else ''} "cc", "memory");
#else
    for (int32_t i = 0; i < steps; ++i) {
        for (int32_t k = 0; k < 16; ++k) {
            sum += ${"(x[16 * i + k] - 128)" if flip else "((const int8_t *)x)[16 * i + k]"} * w[(${16 * channels} * i) + k];
        }
    }
#endif
    return sum;
}

% endfor
/* Products of `count` more values of the only row, from the one at `start` on, added to the sums in `acc`; with the
 * last of them the results. */
TW_KERNEL void ${function}(const uint8_t *x, const int8_t *w, const int32_t *parameters, uint8_t *y, int32_t *acc,
        int32_t start, int32_t count, int32_t first, int32_t last, int32_t zero_point)
{
% for at, blocks, channels in shapes:
    for (int32_t c = ${at}; c < ${at + blocks * channels}; c += ${channels}) {
        const int8_t *const weights = w + (c * ${depth}) + (start * ${channels});
        const int32_t *const p = parameters + (${1 + stored} * c);
        for (int32_t k = 0; k < ${channels}; ++k) {
            const int32_t sum = ${function}_dot_${channels}(x, weights + (16 * k), count / 16, first ? p[k] : acc[c + k]);
% if kind == "float":
            float scale;
            memcpy(&scale, p + 4 + k, sizeof scale);
% endif
            if (last) {
% if kind == "twice":
                y[c + k] = (uint8_t)tw_mve_requant_twice(sum, p[4 + k], p[8 + k], zero_point, ${low}, ${high});
% elif kind == "shift":
                y[c + k] = (uint8_t)tw_mve_requant_shift(sum, p[4 + k], p[8 + k], p[12 + k], zero_point, ${low}, ${high});
% else:
                y[c + k] = (uint8_t)tw_mve_requant(sum, scale, zero_point, ${low}, ${high});
% endif
            } else {
                acc[c + k] = sum;
            }
        }
    }
% endfor
}
