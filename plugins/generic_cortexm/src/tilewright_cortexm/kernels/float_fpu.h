#pragma once

/* The assembler's macro `products`: four values, in registers, with the four weights in s24..s27, added to four sums. A
 * fused product takes three cycles on a Cortex-M4, a product and a sum one each. */
#if defined(__ARM_FP) && (__ARM_FP & 4) && defined(__thumb2__)
#  define TW_FPU_ARM 1
#  if (__ARM_ARCH >= 8) || (__ARM_FP & 8)
#    define TW_FPU_PRODUCTS \
    "vfma.f32 \\a, \\w, s24\n\t" \
    "vfma.f32 \\b, \\x, s25\n\t" \
    "vfma.f32 \\c, \\y, s26\n\t" \
    "vfma.f32 \\d, \\z, s27\n\t"
#  else
#    define TW_FPU_PRODUCTS \
    "vmul.f32 s28, \\w, s24\n\t" \
    "vmul.f32 s29, \\x, s25\n\t" \
    "vmul.f32 s30, \\y, s26\n\t" \
    "vmul.f32 s31, \\z, s27\n\t" \
    "vadd.f32 \\a, \\a, s28\n\t" \
    "vadd.f32 \\b, \\b, s29\n\t" \
    "vadd.f32 \\c, \\c, s30\n\t" \
    "vadd.f32 \\d, \\d, s31\n\t"
#  endif
#  define TW_FPU_BEGIN ".macro products a, b, c, d, w, x, y, z\n\t" TW_FPU_PRODUCTS ".endm\n\t"
#  define TW_FPU_END ".purgem products\n\t"
#endif
