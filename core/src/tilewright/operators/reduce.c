#ifndef TW_REDUCE_START_${short.upper()}
#define TW_REDUCE_START_${short.upper()}
/* What a reduction over no element gives. */
TW_KERNEL void tw_reduce_start_${short}(int32_t kept, ${type} value, ${type} *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] = value;
    }
}
#endif
#ifndef TW_REDUCE_${combine.upper()}_${short.upper()}
#define TW_REDUCE_${combine.upper()}_${short.upper()}
% if combine == "sum":
TW_KERNEL float tw_reduce_sum(float one, float other)
{
    return one + other;
}
% elif short == "f32":
TW_KERNEL float tw_reduce_${combine}(float one, float other)
{
    return other ${">" if combine == "max" else "<"} one || other != other ? other : one; /* NaN stays NaN */
}
% else:
TW_KERNEL ${type} tw_reduce_${combine}_of_${short}(${type} one, ${type} other)
{
    return other ${">" if combine == "max" else "<"} one ? other : one;
}
% endif
<% pair = f"tw_reduce_{combine}" if short == "f32" else f"tw_reduce_{combine}_of_{short}" %>\

/* Combines a block of elements with what is in y already. */
TW_KERNEL void tw_reduce_${combine}_${short}(int32_t kept, int32_t reduced, const ${type} *x, int32_t x_kept, int32_t x_reduced,
                                  ${type} *y, int32_t y_kept)
{
    if (x_reduced > x_kept) { /* whole rows at a time: neighbours in memory belong to different results */
        for (int32_t r = 0; r < reduced; ++r) {
            for (int32_t k = 0; k < kept; ++k) {
                y[k * y_kept] = ${pair}(y[k * y_kept], x[k * x_kept + r * x_reduced]);
            }
        }
        return;
    }
    for (int32_t k = 0; k < kept; ++k) {
        ${type} result = y[k * y_kept];
        for (int32_t r = 0; r < reduced; ++r) {
            result = ${pair}(result, x[k * x_kept + r * x_reduced]);
        }
        y[k * y_kept] = result;
    }
}
#endif
% if part:
#ifndef TW_REDUCE_LEAVE_${short.upper()}
#define TW_REDUCE_LEAVE_${short.upper()}
% if short == "f32":
/* From what was kept to results: sums become means, and may be clipped; NaN kept. */
TW_KERNEL void tw_reduce_leave_f32(int32_t kept, float divisor, float low, float high, const float *sums,
                                   int32_t sums_kept, float *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        const float v = sums[k * sums_kept] / divisor;
        y[k * y_kept] = v < low ? low : (v > high ? high : v);
    }
}
% else:
/* From what was kept to results. */
TW_KERNEL void tw_reduce_leave_${short}(int32_t kept, const ${type} *sums, int32_t sums_kept, ${type} *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] = sums[k * sums_kept];
    }
}
% endif
#endif
% elif divisor:
#ifndef TW_REDUCE_FINISH
#define TW_REDUCE_FINISH
/* From sums to means. */
TW_KERNEL void tw_reduce_finish_f32(int32_t kept, float divisor, float *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] /= divisor;
    }
}
#endif
% endif
