${banner(f"{p}_quantize.h", "real values become the integers of its inputs, and its outputs real values")}
#ifndef ${P}_QUANTIZE_H
#define ${P}_QUANTIZE_H

#include "${p}.h"
% if quantised_inputs:

/* The nearest integer, halves to the even one. Far outside every type the nearer end; NaN becomes 0. */
static inline int32_t ${p}_nearest(float x)
{
    if (!(x > -131072.0f)) {
        return (x < 0.0f) ? -131072 : 0;
    }
    if (!(x < 131072.0f)) {
        return 131072;
    }
    const int32_t whole = (int32_t)x;
    const float rest = x - (float)whole; /* exact: the fraction of a float is a float */
    const int32_t odd = whole & 1;
    if ((rest > 0.5f) || ((rest == 0.5f) && (odd != 0))) {
        return whole + 1;
    }
    return ((rest < -0.5f) || ((rest == -0.5f) && (odd != 0))) ? (whole - 1) : whole;
}
% endif
% for port in quantised_inputs:

/* Real values of ${safe(port.value)} as it stores them, kept between ${port.limits[0]} and ${port.limits[1]}. */
static inline void ${p}_quantize_${port.member}(const float *real, ${port.type} *stored)
{
    for (uint32_t i = 0; i < ${port.macro}_ELEMENTS; ++i) {
        const float scaled = real[i] / ${port.macro}_SCALE;
        const int32_t nearest = ${p}_nearest(scaled);
        const int32_t moved = nearest + ${port.macro}_ZERO_POINT;
        ${broken(2, f"stored[i] = ({port.type})((moved < {port.limits[0]}) ? {port.limits[0]}", f": ((moved > {port.limits[1]}) ? {port.limits[1]} : moved));")}
    }
}
% endfor
% for port in quantised_outputs:

/* What ${safe(port.value)} stands for. */
static inline void ${p}_dequantize_${port.member}(const ${port.type} *stored, float *real)
{
    for (uint32_t i = 0; i < ${port.macro}_ELEMENTS; ++i) {
        ${broken(2, "const int32_t centred = (int32_t)stored[i]", f"- {port.macro}_ZERO_POINT;")}
        real[i] = (float)centred * ${port.macro}_SCALE;
    }
}
% endfor

#endif
