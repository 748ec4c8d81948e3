#ifndef TW_REDUCE_START
#define TW_REDUCE_START
/* What a reduction over no element gives. */
TW_KERNEL void tw_reduce_start_f32(int32_t kept, float value, float *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] = value;
    }
}
#endif
#ifndef TW_REDUCE_${combine.upper()}
#define TW_REDUCE_${combine.upper()}
TW_KERNEL float tw_reduce_${combine}(float one, float other)
{
% if combine == "sum":
    return one + other;
% else:
    return other ${">" if combine == "max" else "<"} one || other != other ? other : one; /* NaN stays NaN */
% endif
}

/* Combines a block of elements with what is in y already. */
TW_KERNEL void tw_reduce_${combine}_f32(int32_t kept, int32_t reduced, const float *x, int32_t x_kept, int32_t x_reduced,
                                  float *y, int32_t y_kept)
{
    if (x_reduced > x_kept) { /* whole rows at a time: neighbours in memory belong to different results */
        for (int32_t r = 0; r < reduced; ++r) {
            for (int32_t k = 0; k < kept; ++k) {
                y[k * y_kept] = tw_reduce_${combine}(y[k * y_kept], x[k * x_kept + r * x_reduced]);
            }
        }
        return;
    }
    for (int32_t k = 0; k < kept; ++k) {
        float result = y[k * y_kept];
        for (int32_t r = 0; r < reduced; ++r) {
            result = tw_reduce_${combine}(result, x[k * x_kept + r * x_reduced]);
        }
        y[k * y_kept] = result;
    }
}
#endif
% if divisor:
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
