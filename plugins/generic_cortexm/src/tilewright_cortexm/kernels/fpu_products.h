#pragma once

/* The assembler's macros `products`, four values times four weights, added to four sums, and `product`, one of them;
 * s28..s31 are theirs. A fused product takes three cycles on a Cortex-M4, a product and a sum one each. */
#if defined(__ARM_FP) && (__ARM_FP & 4) && defined(__thumb2__)
#  define TW_FPU_ARM 1
#  if (__ARM_ARCH >= 8) || (__ARM_FP & 8)
#    define TW_FPU_PRODUCT "vfma.f32 \\a, \\w, \\k\n\t"
#    define TW_FPU_PRODUCTS \
    "vfma.f32 \\a, \\w, \\k\n\t" \
    "vfma.f32 \\b, \\x, \\l\n\t" \
    "vfma.f32 \\c, \\y, \\m\n\t" \
    "vfma.f32 \\d, \\z, \\n\n\t"
#  else
#    define TW_FPU_PRODUCT \
    "vmul.f32 s28, \\w, \\k\n\t" \
    "vadd.f32 \\a, \\a, s28\n\t"
#    define TW_FPU_PRODUCTS \
    "vmul.f32 s28, \\w, \\k\n\t" \
    "vmul.f32 s29, \\x, \\l\n\t" \
    "vmul.f32 s30, \\y, \\m\n\t" \
    "vmul.f32 s31, \\z, \\n\n\t" \
    "vadd.f32 \\a, \\a, s28\n\t" \
    "vadd.f32 \\b, \\b, s29\n\t" \
    "vadd.f32 \\c, \\c, s30\n\t" \
    "vadd.f32 \\d, \\d, s31\n\t"
#  endif
#  define TW_FPU_BEGIN \
    ".macro products a, b, c, d, w, x, y, z, k, l, m, n\n\t" TW_FPU_PRODUCTS ".endm\n\t" \
    ".macro product a, w, k\n\t" TW_FPU_PRODUCT ".endm\n\t"
#  define TW_FPU_END ".purgem products\n\t.purgem product\n\t"
#endif
