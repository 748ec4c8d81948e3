/* What the portable kernels below rely on. */
#if defined(__FAST_MATH__)
#  error "build this file without -ffast-math: results would no longer be the ones that were checked"
#endif
#ifndef TW_KERNEL /* -DTW_KERNEL='static' keeps one copy of each kernel: smaller, slower */
#  if defined(__GNUC__)
#    define TW_KERNEL static inline __attribute__((always_inline, unused))
#  else
#    define TW_KERNEL static inline
#  endif
#endif

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

/* Between the bits of a float16 and what they stand for: VCVTB rounds as FPSCR says, too. */
TW_KERNEL float tw_arm_f32_of_f16(uint32_t bits)
{
    float value;
    __asm__("vmov %0, %1\n\tvcvtb.f32.f16 %0, %0" : "=t"(value) : "r"(bits));
    return value;
}
#  define TW_F32_OF_F16 tw_arm_f32_of_f16

TW_KERNEL uint16_t tw_arm_f16_of_f32(float value)
{
    uint32_t bits;
    __asm__("vcvtb.f16.f32 %1, %1\n\tvmov %0, %1" : "=r"(bits), "+t"(value));
    return (uint16_t)(bits & 0xffffu);
}
#  define TW_F16_OF_F32 tw_arm_f16_of_f32
#endif

/* clamp(v, -128, 127), by one instruction where there is one */
TW_KERNEL int32_t tw_narrow_0_m128_127(int32_t v)
{
#if defined(__ARM_FEATURE_SAT) && defined(__thumb2__)
    int32_t q;
    __asm__("ssat %0, #8, %1" : "=r"(q) : "r"(v));
    return q;
#else
    const int32_t q = v;
    return (q < -128) ? -128 : ((q > 127) ? 127 : q);
#endif
}

/* A function that is assembler only. Compilers must not look inside for what it reads, writes or leaves alone. */
#if defined(__clang__)
#  define TW_ASSEMBLER __attribute__((naked, noinline, used)) static
#else
#  define TW_ASSEMBLER __attribute__((naked, noipa)) static
#endif

/* A function whose registers, and what it keeps on the stack, are not among those of its caller. */
#if defined(__GNUC__)
#  define TW_APART __attribute__((noinline)) static
#else
#  define TW_APART static
#endif

/* The instructions of the DSP extension that compilers do not find by themselves, and the same in C. */

/* Four bytes from any address; one load where the core reads unaligned words. */
TW_KERNEL uint32_t tw_dsp_load(const void *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
#  define TW_DSP_ARM 1
/* Bytes 0 and 2, or 1 and 3, as two 16-bit halves. */
TW_KERNEL uint32_t tw_dsp_even_i8(uint32_t v)
{
    uint32_t r;
    __asm__("sxtb16 %0, %1" : "=r"(r) : "r"(v));
    return r;
}

TW_KERNEL uint32_t tw_dsp_odd_i8(uint32_t v)
{
    uint32_t r;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(r) : "r"(v));
    return r;
}

TW_KERNEL uint32_t tw_dsp_even_u8(uint32_t v)
{
    uint32_t r;
    __asm__("uxtb16 %0, %1" : "=r"(r) : "r"(v));
    return r;
}

TW_KERNEL uint32_t tw_dsp_odd_u8(uint32_t v)
{
    uint32_t r;
    __asm__("uxtb16 %0, %1, ror #8" : "=r"(r) : "r"(v));
    return r;
}

/* Products of halves, added to a sum: both, modulo 2^32; low times high; high times low. */
TW_KERNEL int32_t tw_dsp_mlad(uint32_t x, uint32_t w, int32_t sum)
{
    __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(w));
    return sum;
}

TW_KERNEL int32_t tw_dsp_mlabt(uint32_t x, uint32_t w, int32_t sum)
{
    __asm__("smlabt %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(w));
    return sum;
}

TW_KERNEL int32_t tw_dsp_mlatb(uint32_t x, uint32_t w, int32_t sum)
{
    __asm__("smlatb %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(w));
    return sum;
}

/* Low halves of a and b, or high halves of both, as one word. */
TW_KERNEL uint32_t tw_dsp_low(uint32_t a, uint32_t b)
{
    uint32_t r;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

TW_KERNEL uint32_t tw_dsp_high(uint32_t a, uint32_t b)
{
    uint32_t r;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(r) : "r"(b), "r"(a));
    return r;
}

/* above + the upper half of the product */
TW_KERNEL int32_t tw_dsp_mmla(int32_t acc, int32_t multiplier, int32_t above)
{
    int32_t r;
    __asm__("smmla %0, %1, %2, %3" : "=r"(r) : "r"(acc), "r"(multiplier), "r"(above));
    return r;
}

/* rne(acc * scale) + zero_point. VCVTR rounds as FPSCR says, to nearest even after reset. */
TW_KERNEL int32_t tw_dsp_round(int32_t acc, int32_t word, int32_t zero_point)
{
    float value = (float)acc;
    const union { uint32_t bits; float scale; } s = {.bits = (uint32_t)word & UINT32_C(0x7fffffff)};
    int32_t r;
    value *= s.scale;
    __asm__("vcvtr.s32.f32 %1, %1\n\tvmov %0, %1\n\tqadd %0, %0, %2" : "=&r"(r), "+t"(value) : "r"(zero_point));
    return r;
}
#else
TW_KERNEL int32_t tw_dsp_byte(uint32_t v, int32_t at)
{
    const int32_t byte = (int32_t)((v >> (8 * at)) & 255);
    return (byte < 128) ? byte : (byte - 256);
}

TW_KERNEL int32_t tw_dsp_half(uint32_t v, int32_t at)
{
    const int32_t half = (int32_t)((v >> (16 * at)) & 65535);
    return (half < 32768) ? half : (half - 65536);
}

TW_KERNEL uint32_t tw_dsp_even_i8(uint32_t v)
{
    return ((uint32_t)tw_dsp_byte(v, 0) & 65535) | ((uint32_t)tw_dsp_byte(v, 2) << 16);
}

TW_KERNEL uint32_t tw_dsp_odd_i8(uint32_t v)
{
    return ((uint32_t)tw_dsp_byte(v, 1) & 65535) | ((uint32_t)tw_dsp_byte(v, 3) << 16);
}

TW_KERNEL uint32_t tw_dsp_even_u8(uint32_t v)
{
    return v & UINT32_C(0x00ff00ff);
}

TW_KERNEL uint32_t tw_dsp_odd_u8(uint32_t v)
{
    return (v >> 8) & UINT32_C(0x00ff00ff);
}

TW_KERNEL int32_t tw_dsp_mlad(uint32_t x, uint32_t w, int32_t sum)
{
    const int32_t products = (tw_dsp_half(x, 0) * tw_dsp_half(w, 0)) + (tw_dsp_half(x, 1) * tw_dsp_half(w, 1));
    return (int32_t)((uint32_t)sum + (uint32_t)products);
}

TW_KERNEL int32_t tw_dsp_mlabt(uint32_t x, uint32_t w, int32_t sum)
{
    return sum + (tw_dsp_half(x, 0) * tw_dsp_half(w, 1));
}

TW_KERNEL int32_t tw_dsp_mlatb(uint32_t x, uint32_t w, int32_t sum)
{
    return sum + (tw_dsp_half(x, 1) * tw_dsp_half(w, 0));
}

TW_KERNEL uint32_t tw_dsp_low(uint32_t a, uint32_t b)
{
    return (a & 65535) | (b << 16);
}

TW_KERNEL uint32_t tw_dsp_high(uint32_t a, uint32_t b)
{
    return (a >> 16) | (b & UINT32_C(0xffff0000));
}

#if defined(__ARM_ARCH_6M__) /* no long products: by halves, which is shorter than the library's */
TW_KERNEL int32_t tw_dsp_mmla(int32_t acc, int32_t multiplier, int32_t above)
{
    const uint32_t low = (uint32_t)acc & 65535;
    const uint32_t other = (uint32_t)multiplier & 65535;
    const int32_t cross = ((acc >> 16) * (int32_t)other) + (int32_t)((low * other) >> 16);
    const int32_t last = ((int32_t)low * (multiplier >> 16)) + (int32_t)((uint32_t)cross & 65535);
    return above + ((acc >> 16) * (multiplier >> 16)) + (cross >> 16) + (last >> 16);
}
#else
TW_KERNEL int32_t tw_dsp_mmla(int32_t acc, int32_t multiplier, int32_t above)
{
    return above + (int32_t)(((int64_t)acc * multiplier) >> 32);
}
#endif

/* A value to nearest, halves to even, where `rest` is the part below it in 32 bits. */
TW_KERNEL uint32_t tw_dsp_nearest(uint32_t whole, uint32_t rest)
{
    return whole + ((rest > UINT32_C(0x80000000)) || ((rest == UINT32_C(0x80000000)) && (whole & 1)));
}

/* How many bits v has. */
TW_KERNEL int32_t tw_dsp_bits(uint32_t v)
{
    int32_t bits = (v != 0);
    for (int32_t step = 16; step > 0; step >>= 1) {
        if ((v >> step) != 0) {
            v >>= step;
            bits += step;
        }
    }
    return bits;
}

/* rne(acc * scale) + zero_point, as floats of 32 bits round it, in integers: the sum to 24 bits, the product to 24
 * bits, and that to an integer. What is beyond 1024 is clamped by all that call this. */
TW_KERNEL int32_t tw_dsp_round(int32_t acc, int32_t word, int32_t zero_point)
{
    const uint32_t bits = (uint32_t)word & UINT32_C(0x7fffffff);
    const int32_t normal = (bits >= UINT32_C(0x00800000));
    const uint32_t scale = (bits & UINT32_C(0x007fffff)) | ((uint32_t)normal << 23);
    uint32_t size = (acc < 0) ? (0 - (uint32_t)acc) : (uint32_t)acc;
    int32_t by = 149 + normal - (int32_t)(bits >> 23); /* the product is an integer times 2^-by */
    if (size >= (UINT32_C(1) << 24)) {
        const int32_t extra = tw_dsp_bits(size >> 24);
        size = tw_dsp_nearest(size >> extra, size << (32 - extra));
        by -= extra;
    }
    /* both factors are at most 2^24: the product in two words */
    const uint32_t cross = ((size & 65535) * (scale >> 16)) + ((size >> 16) * (scale & 65535));
    const uint32_t low = (size & 65535) * (scale & 65535);
    uint32_t value = low + (cross << 16);
    const uint32_t high = ((size >> 16) * (scale >> 16)) + (cross >> 16) + (value < low);
    const int32_t drop = tw_dsp_bits((high << 8) | (value >> 24));
    if (drop > 0) {
        value = tw_dsp_nearest((high << (32 - drop)) | (value >> drop), value << (32 - drop));
        by -= drop;
    }
    if (by > 31) {
        value = 0; /* below a half: it has 25 bits at most */
    } else if (by > 0) {
        value = tw_dsp_nearest(value >> by, value << (32 - by));
    } else if ((by < 0) && (value != 0)) {
        value = 1024;
    }
    const int32_t most = (int32_t)((value > 1024) ? 1024 : value);
    return ((acc < 0) ? -most : most) + zero_point;
}
#endif

/* The sum of the upper channel of a pair, of what SMLAD made of words that hold 256 times its weights and the
 * lower's. */
TW_KERNEL int32_t tw_dsp_upper(int32_t both, int32_t lower)
{
    return (int32_t)((uint32_t)both - (uint32_t)lower) >> 8;
}

/* An accumulator becomes a result: acc * word >> (32 + shift), rounded, where that is proved, or by the formula.
 * `above` is the zero point and one half, both at bit `shift` of the upper half. */
TW_KERNEL int32_t tw_dsp_requant_or(int32_t acc, int32_t word, int32_t above, int32_t shift, int32_t zero_point,
        int32_t low, int32_t high, int32_t exact)
{
    const int32_t q = exact ? tw_dsp_round(acc, word, zero_point) : (tw_dsp_mmla(acc, word, above) >> shift);
    return (q < low) ? low : ((q > high) ? high : q);
}

TW_KERNEL int32_t tw_dsp_requant(int32_t acc, int32_t word, int32_t above, int32_t shift, int32_t zero_point,
        int32_t low, int32_t high)
{
    return tw_dsp_requant_or(acc, word, above, shift, zero_point, low, high, word < 0);
}

/* An accumulator becomes a result, by the forms that occur; see tw_dsp_requant. */
TW_KERNEL uint8_t tw_dsp_requantise_x0_m128_127(int32_t acc, int32_t word, int32_t above, int32_t zero_point)
{
    (void)above;
    return (uint8_t)tw_narrow_0_m128_127(tw_dsp_round(acc, word, zero_point));
}

/* y = requant((a - a_zero_point) * (b - b_zero_point)); see QMul. */
TW_KERNEL void tw_dsp_i8_i8_i8_product_x0_m128_127_m128_127(int32_t count, int32_t a_step, int32_t b_step,
        int32_t y_step, const int8_t *a, const int8_t *b, int8_t *y,
        int32_t a_zero_point, int32_t b_zero_point, int32_t word, int32_t above, int32_t zero_point)
{
    for (; count >= 4; count -= 4) {
        y[0] = (int8_t)tw_dsp_requantise_x0_m128_127((a[0] - a_zero_point) * (b[0] - b_zero_point), word, above,
            zero_point);
        y[y_step] = (int8_t)tw_dsp_requantise_x0_m128_127((a[a_step] - a_zero_point) * (b[b_step] - b_zero_point), word,
            above, zero_point);
        y[2 * y_step] = (int8_t)tw_dsp_requantise_x0_m128_127((a[2 * a_step] - a_zero_point)
            * (b[2 * b_step] - b_zero_point), word, above, zero_point);
        y[3 * y_step] = (int8_t)tw_dsp_requantise_x0_m128_127((a[3 * a_step] - a_zero_point)
            * (b[3 * b_step] - b_zero_point), word, above, zero_point);
        a += 4 * a_step;
        b += 4 * b_step;
        y += 4 * y_step;
    }
    for (; count > 0; --count) {
        y[0] = (int8_t)tw_dsp_requantise_x0_m128_127((a[0] - a_zero_point) * (b[0] - b_zero_point), word, above,
            zero_point);
        a += a_step;
        b += b_step;
        y += y_step;
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QMul
 *   nodes    qmul_0
 *   kernel   cortex-m.dsp.qmul
 *   A        i8[8,29,31]  ram [0, 7192)      qmul_0_in0
 *   B        i8[8,1,31]   ram [7192, 7440)   qmul_0_in1
 *   Y        i8[8,29,31]  ram [7440, 14632)  qmul_0_out0
 */
TW_STEP void net_0_qmul(uint8_t *ram)
{
    const int8_t *const a = (const int8_t *)(ram + IN_QMUL_0_IN0);
    const int8_t *const b = (const int8_t *)(ram + IN_QMUL_0_IN1);
    int8_t *const y = (int8_t *)(ram + QMUL_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 8; ++tw_i0) {
        for (int32_t tw_i1 = 0; tw_i1 < 29; ++tw_i1) {
            tw_dsp_i8_i8_i8_product_x0_m128_127_m128_127(31, 1, 1, 1, (const int8_t *)a + (tw_i0 * 899) + (tw_i1 * 31),
                                                         (const int8_t *)b + (tw_i0 * 31),
                                                         (int8_t *)y + (tw_i0 * 899) + (tw_i1 * 31), 3, -5, -1138501878,
                                                         -3, -3);
        }
    }
}
