% if short == "f32":
/* From what was kept to results: sums become means, and may be clipped; NaN kept. */
TW_KERNEL void tw_reduce_leave_f32(int32_t kept, float divisor, float low, float high, const float *sums,
                                   int32_t sums_kept, float *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        const float v = sums[k * sums_kept] / divisor;
        y[k * y_kept] = (v < low) ? low : ((v > high) ? high : v);
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
