/* Included before the float sources of CMSIS-NN: gcc 12 takes a const scalar, or a literal, of some overloaded Helium
 * intrinsics for no type at all, and leaves an undefined symbol in the program. Here they are chosen by type. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#include <arm_mve.h>
#undef vfmaq
#define vfmaq(sum, a, b) _Generic((b), float: __arm_vfmaq_n_f32, default: __arm_vfmaq_f32)(sum, a, b)
#define BY_TYPE(op, a, b) _Generic((a), \
    float32x4_t: _Generic((b), float32x4_t: __arm_##op##_f32, default: __arm_##op##_n_f32), \
    uint32x4_t: _Generic((b), uint32x4_t: __arm_##op##_u32, default: __arm_##op##_n_u32), \
    default: _Generic((b), int32x4_t: __arm_##op##_s32, default: __arm_##op##_n_s32))(a, b)
#undef vmulq
#define vmulq(a, b) BY_TYPE(vmulq, a, b)
#undef vaddq
#define vaddq(a, b) BY_TYPE(vaddq, a, b)
#undef vsubq
#define vsubq(a, b) BY_TYPE(vsubq, a, b)
#undef vcmpltq
#define vcmpltq(a, b) _Generic((a), int32x4_t: __arm_vcmpltq_n_s32, default: __arm_vcmpltq_n_f32)(a, b)
#endif
