/* What a reduction over no element gives. */
TW_KERNEL void tw_reduce_start_${short}(int32_t kept, ${type} value, ${type} *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] = value;
    }
}
