#ifndef TW_XP_F32_ANY_NAN
#define TW_XP_F32_ANY_NAN
/* Whether one is NaN: then their sum is, which it is as well where there are infinities of both signs. */
TW_KERNEL int tw_xp_f32_any_nan(int32_t count, const float *x)
{
    float sums[] = {0.0f, 0.0f, 0.0f, 0.0f};
    tw_xp_f32_total(count, x, 1, sums);
    const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return sum != sum;
}
#endif
