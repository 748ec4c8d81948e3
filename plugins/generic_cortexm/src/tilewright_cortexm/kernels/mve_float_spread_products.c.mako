<%doc> Needs kind ("f32" or "f16"), stored (its C type), load and rounded (an element of it, as C). </%doc>\
#include "mve_float_spread.h"

/* The sum of one output, from x and w on. */
TW_KERNEL float tw_float_spread_sum_${kind}(const tw_float_spread *s, const ${stored} *x, const ${stored} *w, float bias)
{
    float sum = bias;
    for (int32_t run = 0; run < s->runs; ++run) {
        for (int32_t tap = 0; tap < s->taps; ++tap) {
            for (int32_t k = 0; k < ((4 * s->fours) + s->rest); ++k) {
                sum += ${load("*x")} * ${load("*w")};
                ++x;
                w += 4;
            }
            x += s->x_tap / (int32_t)sizeof *x;
        }
        x += s->x_jump / (int32_t)sizeof *x;
        w += s->w_jump / (int32_t)sizeof *w;
    }
    return sum;
}

/* What blocks compute, in C. */
TW_KERNEL void tw_float_spread_products_${kind}(const tw_float_spread *s, int32_t pixels)
{
    for (int32_t o = 0; o < s->outputs; ++o) {
        const ${stored} *const w = (const ${stored} *)s->w + ((o / 4) * (s->w_block / (int32_t)sizeof *w)) + (o % 4);
        for (int32_t p = 0; p < pixels; ++p) {
            const ${stored} *const x = (const ${stored} *)s->x + (p * (s->x_step / (int32_t)sizeof *x));
            ${stored} *const y = (${stored} *)s->y + (p * (s->y_step / (int32_t)sizeof *x)) + o;
            const float value = tw_float_clip(tw_float_spread_sum_${kind}(s, x, w, s->bias[o]), s->low, s->high);
            *y = ${rounded("value")};
        }
    }
}
