/* Reductions of floats in three parts: start, add a block of elements to what is there, and for a mean finish. */
TW_KERNEL void tw_reduce_start_f32(int32_t kept, float value, float *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] = value;
    }
}

TW_KERNEL float tw_reduce_sum(float one, float other)
{
    return one + other;
}

TW_KERNEL float tw_reduce_max(float one, float other) /* NaN stays NaN */
{
    return other > one || other != other ? other : one;
}

TW_KERNEL float tw_reduce_min(float one, float other) /* NaN stays NaN */
{
    return other < one || other != other ? other : one;
}

TW_KERNEL void tw_reduce_finish_f32(int32_t kept, float divisor, float *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] /= divisor;
    }
}
% for combine in ("sum", "max", "min"):

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
% endfor
