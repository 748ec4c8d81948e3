#ifndef TW_XP_F32_ROOT
#define TW_XP_F32_ROOT
/* The square root, correctly rounded. */
TW_KERNEL float tw_xp_f32_root(float value)
{
#ifdef TW_XP_FPU
    float root;
    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(value));
    return root;
#else
    return tw_sqrtf(value);
#endif
}
#endif
