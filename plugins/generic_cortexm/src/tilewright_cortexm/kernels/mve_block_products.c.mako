<%doc> What blocks compute, in C. Needs products (the function's name), more, nibbles, kind, stored (see mve_requant.py). </%doc>\
#include "mve.h"
#include "mve_block.h"

#ifndef TW_MVE_ARM
/* `count` values of every pixel in sixteens, with a `jump` behind each `run` of them, then `rest` more. */
TW_KERNEL void ${products}(const tw_mve_block *b, int32_t pixels, int32_t channels, int32_t count, int32_t run,
        int32_t jump, int32_t rest, int32_t low, int32_t high)
{
    const int8_t *w = b->w;
    for (int32_t i = 0; i < b->blocks; ++i) {
        const int32_t *const p = b->parameters + (${4 + 4 * stored} * i);
        const int8_t *const x[2] = {b->x, b->other};
        for (int32_t result = 0; result < (pixels * channels); ++result) {
            const int32_t j = result / channels;
            const int32_t c = result % channels;
% if nibbles:
            const int32_t lower = c & ~1;
            const int32_t pair = (lower + 1) < channels;
            const int32_t pairs = (channels + 1) / 2;
            uint32_t both = (uint32_t)p[pair ? (lower + 1) : lower];
            int32_t sum = pair ? p[lower] : 0;
% else:
            int32_t sum = p[c]${" + b->more[j]" if more else ""};
% endif
% if kind == "float":
            float scale;
% endif
% if nibbles:
            for (int32_t k = 0; k < (count + rest); ++k) {
                const int32_t at = (k < count) ? ((((k / 16 * pairs) + (c / 2)) * 16) + (k % 16))
                    : ((count * pairs) + (c / 2 * rest) + (k - count));
                const int32_t v = x[j][(k < count) ? (k + (k / run * jump)) : k];
                both += (uint32_t)(v * w[at]);
                sum += pair ? (v * (w[at] & 15)) : 0;
            }
            sum = (pair && (c == lower)) ? (sum + b->more[j])
                : ((int32_t)(both - (uint32_t)sum)${"" if kind == "float" else " >> 4"});${"" if kind != "float" else " /* 16 times the sum: the scale is a 16th */"}
% else:
            for (int32_t k = 0; k < count; ++k) {
                sum += x[j][k + (k / run * jump)] * w[(((k / 16 * channels) + c) * 16) + (k % 16)];
            }
            for (int32_t k = 0; k < rest; ++k) {
                sum += x[j][count + k] * w[(count * channels) + (c * rest) + k];
            }
% endif
% if kind == "twice":
            b->y[(j * b->apart) + (4 * i) + c] = (uint8_t)tw_mve_requant_twice(sum, p[4 + c], p[8 + c], b->zero_point,
                low, high);
% elif kind == "shift":
            b->y[(j * b->apart) + (4 * i) + c] = (uint8_t)tw_mve_requant_shift(sum, p[4 + c], p[8 + c], p[12 + c],
                b->zero_point, low, high);
% else:
            memcpy(&scale, p + 4 + c, sizeof scale);
            b->y[(j * b->apart) + (4 * i) + c] = (uint8_t)tw_mve_requant(sum, scale, b->zero_point, low, high);
% endif
        }
        w += (count + rest) * ${"((channels + 1) / 2)" if nibbles else "channels"};
    }
}
#endif
