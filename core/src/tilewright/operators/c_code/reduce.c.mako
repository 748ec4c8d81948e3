/* Combines a block of elements with what is in y already. */
TW_KERNEL void tw_reduce_${combine}_${short}(int32_t kept, int32_t reduced, const ${type} *x, int32_t x_kept, int32_t x_reduced,
                                  ${type} *y, int32_t y_kept)
{
    if (x_reduced > x_kept) { /* whole rows at a time: neighbours in memory belong to different results */
        for (int32_t r = 0; r < reduced; ++r) {
            for (int32_t k = 0; k < kept; ++k) {
                y[k * y_kept] = ${pair}(y[k * y_kept], x[(k * x_kept) + (r * x_reduced)]);
            }
        }
        return;
    }
    for (int32_t k = 0; k < kept; ++k) {
        ${type} result = y[k * y_kept];
        for (int32_t r = 0; r < reduced; ++r) {
            result = ${pair}(result, x[(k * x_kept) + (r * x_reduced)]);
        }
        y[k * y_kept] = result;
    }
}
