<%doc> Needs function, near (whether elements are neighbours), left and right (what differences are shifted by). </%doc>\
#include "dsp_nearest_half.h"

<%
    x, y = (f"{name}[{'i' if near else f'i * {name}_step'}]" for name in "xy")
%>\
/* A place from 0 to 65535 on the lines between 513; what is divided by 128 is a sum of two products. */
TW_KERNEL int32_t ${function}_at(const int16_t *t, int32_t place)
{
    const uint32_t shares = 128 + ((uint32_t)(place & 127) * 65535); /* 128 - part, and part */
    return tw_dsp_mlad(tw_dsp_load(t + (place >> 7)), shares, 64) >> 7;
}

/* The exponential of one element, in 15 bits; `v` is x - largest. */
TW_KERNEL int32_t ${function}_entry(int32_t v, int32_t multiplier, const int16_t *t)
{
    const int32_t a = v * ${2 << left};
% if right:
    const int32_t high = tw_dsp_mmlar(a, multiplier, 0);
    const int32_t place = ((high + ${1 << right >> 1} - ((high < 0) ? 1 : 0)) >> ${right}) + 65535;
% else:
    const int32_t place = tw_dsp_mmlar(a, multiplier, 65535);
% endif
    return ${function}_at(t, (place < 0) ? 0 : place);
}

/* 2^15 times that of a sum over 2^shift, from 1 to 2: from the second table. */
TW_KERNEL int32_t ${function}_reciprocal(const int16_t *t, int32_t sum, int32_t *shift)
{
    int32_t bits = 14; /* of the sum but one: the largest element has 15 */
    while ((sum >> bits) > 1) {
        ++bits;
    }
    const int32_t place = (int32_t)((((uint32_t)sum << (30 - bits)) + (1 << 13)) >> 14) - 65536;
    *shift = bits;
    return ${function}_at(t + 513, (place > 65535) ? 65535 : place);
}

/* One row; see QSoftmax, `tflm`. Exponentials wait in y for their sum. */
TW_KERNEL void ${function}(const int16_t *x, const int16_t *t, int16_t *y, int32_t count, int32_t x_step,
        int32_t y_step, int32_t multiplier)
{
    int32_t largest = x[0];
    int32_t sum = 0;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t v = ${x};
        largest = (v > largest) ? v : largest;
    }
    for (int32_t i = 0; i < count; ++i) {
        const int32_t e = ${function}_entry(${x} - largest, multiplier, t);
        ${y} = (int16_t)e;
        sum += e;
    }
    int32_t shift = 0;
    const int32_t factor = ${function}_reciprocal(t, sum, &shift);
    const int32_t half = 1 << (shift - 1);
    for (int32_t i = 0; i < count; ++i) {
        const int32_t q = ((${y} * factor) + half) >> shift;
        ${y} = (int16_t)((q > 32767) ? 32767 : q);
    }
% if near:
    (void)x_step;
    (void)y_step;
% endif
}
