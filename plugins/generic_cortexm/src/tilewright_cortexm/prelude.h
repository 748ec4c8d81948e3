/* What Cortex-M cores with an FPU do better than portable C. */
#if defined(__arm__) && defined(__ARM_FP) && (__ARM_FP & 4)
/* clamp(rne(v), low, high). VCVTR rounds as FPSCR says, to nearest even after reset, and saturates. */
TW_KERNEL int32_t tw_arm_round_clamped(float v, int32_t low, int32_t high)
{
    int32_t q;
    __asm__("vcvtr.s32.f32 %1, %1\n\tvmov %0, %1" : "=r"(q), "+t"(v));
    q = (q < low) ? low : q;
    return (q > high) ? high : q;
}
#  define TW_ROUND_CLAMPED tw_arm_round_clamped
#endif
