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

/* `count` bytes become pairs of 16-bit halves (bytes 0 and 2, then 1 and 3), zero after the last; words to `to`,
 * two in every `apart`. */
TW_KERNEL uint32_t *tw_dsp_widen_i8(const uint8_t *x, int32_t count, uint32_t *to, int32_t apart)
{
    const uint8_t *const end = x + (count & ~3);
    while (x != end) {
        const uint32_t v = tw_dsp_load(x);
        x += 4;
        to[0] = tw_dsp_even_i8(v);
        to[1] = tw_dsp_odd_i8(v);
        to += apart;
    }
    if (count & 3) {
        const uint32_t v = (uint32_t)x[0] | ((count & 2) ? ((uint32_t)x[1] << 8) : 0)
            | (((count & 3) == 3) ? ((uint32_t)x[2] << 16) : 0);
        to[0] = tw_dsp_even_i8(v);
        to[1] = tw_dsp_odd_i8(v);
        to += apart;
    }
    return to;
}

/* What a block is given. */
typedef struct {
    /* widened values, four of each column in turn */
    const uint32_t *columns;
    const uint32_t *end;
    const uint32_t *w; /* four bytes of each channel of a block in turn */
    const int32_t *parameters; /* of each block: biases, then multipliers */
    uint8_t *y;
    int32_t apart; /* bytes between the results of neighbouring columns */
    int32_t blocks;
    /* see tw_dsp_requant */
    int32_t above;
    int32_t zero_point;
    int32_t more[3]; /* added to the sums of each column, where the columns differ */
} tw_dsp_block;

#ifdef TW_DSP_ARM
#define TW_DSP_3X2_BEGIN \
    "push {r4-r11, lr}\n\t" \
    "ldmia r0, {r1-r9}\n\t" \
    "push {r1-r9}\n\t" \
    "mov r1, r3\n\t" \
    "1:\n\t" \
    "ldr r2, [sp, #12]\n\t" \
    "ldrd r4, r5, [r2, #0]\n\t" \
    "mov r8, r4\n\t" \
    "mov r9, r5\n\t" \
    "mov r6, r4\n\t" \
    "mov r7, r5\n\t" \
    "ldr r0, [sp]\n\t" \
    "2:\n\t"

/* four values of every column */
#define TW_DSP_3X2_FOUR \
    "ldrd r10, r11, [r1], #8\n\t" \
    "sxtb16 r12, r10\n\t" \
    "sxtb16 r10, r10, ror #8\n\t" \
    "sxtb16 lr, r11\n\t" \
    "sxtb16 r11, r11, ror #8\n\t" \
    "ldrd r2, r3, [r0], #8\n\t" \
    "smlad r4, r2, r12, r4\n\t" \
    "smlad r5, r2, lr, r5\n\t" \
    "smlad r4, r3, r10, r4\n\t" \
    "smlad r5, r3, r11, r5\n\t" \
    "ldrd r2, r3, [r0], #8\n\t" \
    "smlad r6, r2, r12, r6\n\t" \
    "smlad r7, r2, lr, r7\n\t" \
    "smlad r6, r3, r10, r6\n\t" \
    "smlad r7, r3, r11, r7\n\t" \
    "ldrd r2, r3, [r0], #8\n\t" \
    "smlad r8, r2, r12, r8\n\t" \
    "smlad r9, r2, lr, r9\n\t" \
    "smlad r8, r3, r10, r8\n\t" \
    "smlad r9, r3, r11, r9\n\t"
#endif

/* Assembler of a sum that is requantised, `narrow` (ssat or usat) to `bits`: by SMMLA and a shift of its upper half, or
 * by the formula itself, of floats. The scale is in s1; s0 is overwritten. */
#define TW_DSP_FIXED(sum, multiplier, above, narrow, bits, shift) \
    "smmla " #sum ", " #sum ", " #multiplier ", " #above "\n\t" \
    #narrow " " #sum ", #" #bits ", " #sum ", asr #" #shift "\n\t"
#define TW_DSP_EXACT(sum, zero_point, narrow, bits) \
    "vmov s0, " #sum "\n\t" \
    "vcvt.f32.s32 s0, s0\n\t" \
    "vmul.f32 s0, s0, s1\n\t" \
    "vcvtr.s32.f32 s0, s0\n\t" \
    "vmov " #sum ", s0\n\t" \
    "qadd " #sum ", " #sum ", " #zero_point "\n\t" \
    #narrow " " #sum ", #" #bits ", " #sum "\n\t"

#ifdef TW_DSP_ARM
/* `shift` is that of the upper half of what SMMLA computes */
#define TW_DSP_3X2_END_X_M128_127(shift) \
    "ldr r2, [sp, #4]\n\t" \
    "cmp r0, r2\n\t" \
    "bne 2b\n\t" \
    "ldr r2, [sp, #12]\n\t" \
    "ldrd r10, r11, [r2, #8]\n\t" \
    "ldr r3, [sp, #32]\n\t" \
    "vmov s1, r10\n\t" \
    "vabs.f32 s1, s1\n\t" \
    TW_DSP_EXACT(r4, r3, ssat, 8) \
    TW_DSP_EXACT(r6, r3, ssat, 8) \
    TW_DSP_EXACT(r8, r3, ssat, 8) \
    "vmov s1, r11\n\t" \
    "vabs.f32 s1, s1\n\t" \
    TW_DSP_EXACT(r5, r3, ssat, 8) \
    TW_DSP_EXACT(r7, r3, ssat, 8) \
    TW_DSP_EXACT(r9, r3, ssat, 8) \
    "adds r2, #16\n\t" \
    "str r2, [sp, #12]\n\t" \
    "ldr r2, [sp, #16]\n\t" \
    "ldr r3, [sp, #20]\n\t" \
    "strb r6, [r2, r3]\n\t" \
    "strb r8, [r2, r3, lsl #1]\n\t" \
    "strb r4, [r2], #1\n\t" \
    "strb r7, [r2, r3]\n\t" \
    "strb r9, [r2, r3, lsl #1]\n\t" \
    "strb r5, [r2], #1\n\t" \
    "str r2, [sp, #16]\n\t" \
    "ldr r2, [sp, #24]\n\t" \
    "subs r2, #1\n\t" \
    "str r2, [sp, #24]\n\t" \
    "bne 1b\n\t" \
    "add sp, #36\n\t" \
    "pop {r4-r11, pc}\n\t"
#endif

#ifndef TW_DSP_ARM
TW_KERNEL void tw_dsp_products(const tw_dsp_block *b, int32_t pixels, int32_t channels, int32_t shift, int32_t low,
        int32_t high)
{
    const uint32_t *w = b->w;
    for (int32_t i = 0; i < b->blocks; ++i) {
        const int32_t *const p = b->parameters + (2 * channels * i);
        for (int32_t result = 0; result < (pixels * channels); ++result) {
            const int32_t j = result / channels;
            const int32_t c = result % channels;
            int32_t sum = p[c];
            const uint32_t *v = w + c;
            for (const uint32_t *x = b->columns + (2 * j); x < b->end; x += 2 * pixels) {
                sum = tw_dsp_mlad(x[0], tw_dsp_even_i8(*v), sum);
                sum = tw_dsp_mlad(x[1], tw_dsp_odd_i8(*v), sum);
                v += channels;
            }
            b->y[(j * b->apart) + (i * channels) + c] = (uint8_t)tw_dsp_requant(sum, p[channels + c], b->above, shift,
                b->zero_point, low, high);
        }
        w += (b->end - b->columns) / (2 * pixels) * channels;
    }
}
#endif

#ifdef TW_DSP_ARM
TW_ASSEMBLER void tw_dsp_3x2_u2_x0_m128_127(const tw_dsp_block *b __attribute__((unused)))
{
    __asm__ volatile(TW_DSP_3X2_BEGIN
        TW_DSP_3X2_FOUR TW_DSP_3X2_FOUR
        TW_DSP_3X2_END_X_M128_127(0) ::: "memory");
}
#else
static void tw_dsp_3x2_u2_x0_m128_127(const tw_dsp_block *b)
{
    tw_dsp_products(b, 3, 2, 0, -128, 127);
}
#endif

#ifdef TW_DSP_ARM
#define TW_DSP_3X1_BEGIN \
    "push {r4-r11, lr}\n\t" \
    "ldmia r0, {r1-r9}\n\t" \
    "push {r1-r9}\n\t" \
    "mov r1, r3\n\t" \
    "1:\n\t" \
    "ldr r2, [sp, #12]\n\t" \
    "ldr r4, [r2, #0]\n\t" \
    "mov r6, r4\n\t" \
    "mov r5, r4\n\t" \
    "ldr r0, [sp]\n\t" \
    "2:\n\t"

/* four values of every column */
#define TW_DSP_3X1_FOUR \
    "ldr r10, [r1], #4\n\t" \
    "sxtb16 r12, r10\n\t" \
    "sxtb16 r10, r10, ror #8\n\t" \
    "ldrd r2, r3, [r0], #8\n\t" \
    "smlad r4, r2, r12, r4\n\t" \
    "smlad r4, r3, r10, r4\n\t" \
    "ldrd r2, r3, [r0], #8\n\t" \
    "smlad r5, r2, r12, r5\n\t" \
    "smlad r5, r3, r10, r5\n\t" \
    "ldrd r2, r3, [r0], #8\n\t" \
    "smlad r6, r2, r12, r6\n\t" \
    "smlad r6, r3, r10, r6\n\t"
#endif

#ifdef TW_DSP_ARM
/* `shift` is that of the upper half of what SMMLA computes */
#define TW_DSP_3X1_END_X_M128_127(shift) \
    "ldr r2, [sp, #4]\n\t" \
    "cmp r0, r2\n\t" \
    "bne 2b\n\t" \
    "ldr r2, [sp, #12]\n\t" \
    "ldr r10, [r2, #4]\n\t" \
    "ldr r3, [sp, #32]\n\t" \
    "vmov s1, r10\n\t" \
    "vabs.f32 s1, s1\n\t" \
    TW_DSP_EXACT(r4, r3, ssat, 8) \
    TW_DSP_EXACT(r5, r3, ssat, 8) \
    TW_DSP_EXACT(r6, r3, ssat, 8) \
    "adds r2, #8\n\t" \
    "str r2, [sp, #12]\n\t" \
    "ldr r2, [sp, #16]\n\t" \
    "ldr r3, [sp, #20]\n\t" \
    "strb r5, [r2, r3]\n\t" \
    "strb r6, [r2, r3, lsl #1]\n\t" \
    "strb r4, [r2], #1\n\t" \
    "str r2, [sp, #16]\n\t" \
    "ldr r2, [sp, #24]\n\t" \
    "subs r2, #1\n\t" \
    "str r2, [sp, #24]\n\t" \
    "bne 1b\n\t" \
    "add sp, #36\n\t" \
    "pop {r4-r11, pc}\n\t"
#endif

#ifdef TW_DSP_ARM
TW_ASSEMBLER void tw_dsp_3x1_u2_x0_m128_127(const tw_dsp_block *b __attribute__((unused)))
{
    __asm__ volatile(TW_DSP_3X1_BEGIN
        TW_DSP_3X1_FOUR TW_DSP_3X1_FOUR
        TW_DSP_3X1_END_X_M128_127(0) ::: "memory");
}
#else
static void tw_dsp_3x1_u2_x0_m128_127(const tw_dsp_block *b)
{
    tw_dsp_products(b, 3, 1, 0, -128, 127);
}
#endif

typedef struct { /* a convolution over a channels-last tensor; a matrix product is one of 1x1 */
    /* of x; channels of one group, bytes between pixels, and rows */
    int32_t width;
    int32_t height;
    int32_t channels;
    int32_t x_step;
    int32_t x_row;
    /* pixels: of one image of y */
    int32_t out_width;
    int32_t pixels;
    int32_t outputs;
    int32_t y_step;
    int32_t y_row;
    /* kernel rows, runs of x in each, taps in a run */
    int32_t row_taps;
    int32_t column_runs;
    int32_t run_taps;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t column_dilation;
    int32_t top;
    int32_t left;
    int32_t pad; /* value outside, in every byte */
    int32_t groups; /* fours of values in a run, rounded up */
    int32_t above;
    int32_t zero_point;
} tw_dsp_conv;

/* Columns at a time: 3. The last ones again where they do not come out even. */
TW_KERNEL void tw_dsp_products_i8_1x1_3_u2_x0_m128_127_2_1(const tw_dsp_conv p, const uint8_t *x, const uint32_t *w,
        const int32_t *parameters, uint8_t *y, uint32_t *scratch)
{
    const int32_t words = p.row_taps * p.column_runs * p.groups * 6;
    for (int32_t pixel = 0; pixel < p.pixels; pixel += 3) {
        const int32_t at = (pixel <= (p.pixels - 3)) ? pixel : (p.pixels - 3);
        uint32_t *const columns = scratch;
        for (int32_t j = 0; j < 3; ++j) {
            (void)tw_dsp_widen_i8(x + ((at + j) * p.x_step), p.channels, columns + (2 * j), 6);
        }
        tw_dsp_block b = {.columns = columns, .end = columns + words, .apart = p.y_step,
            .above = p.above, .zero_point = p.zero_point};
        b.w = w;
        b.parameters = parameters;
        b.y = y + (at * p.y_step);
        b.blocks = p.outputs / 2;
        tw_dsp_3x2_u2_x0_m128_127(&b);
        b.w = w + ((p.outputs - 1) * p.row_taps * p.column_runs * p.groups);
        b.parameters = parameters + (2 * (p.outputs - 1));
        b.y = y + (at * p.y_step) + (p.outputs - 1);
        b.blocks = 1;
        tw_dsp_3x1_u2_x0_m128_127(&b);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QGemm
 *   nodes    qgemm_0
 *   kernel   cortex-m.dsp.qgemm
 *   A        i8[37,101]  ram [2588, 6325)   qgemm_0_in0
 *   W        u32[1378]   flash [440, 5952)  qgemm_0.W
 *   P        i32[106]    flash [16, 440)    qgemm_0.P
 *   Y        i8[37,53]   ram [624, 2585)    qgemm_0_out0
 *   scratch  u8[624]     ram [0, 624)
 */
TW_STEP void net_0_qgemm(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const a = (const int8_t *)(ram + IN_QGEMM_0_IN0);
    const uint32_t *const w = (const uint32_t *)(flash + QGEMM_0_W);
    const int32_t *const p = (const int32_t *)(flash + QGEMM_0_P);
    int8_t *const y = (int8_t *)(ram + QGEMM_0_OUT);
    uint8_t *const scratch = ram + QGEMM_0_SCRATCH;
    tw_dsp_products_i8_1x1_3_u2_x0_m128_127_2_1((tw_dsp_conv){
        .width = 37, .height = 1, .channels = 101, .x_step = 101, .x_row = 3737, .out_width = 37, .pixels = 37,
        .outputs = 53, .y_step = 53, .y_row = 1961, .row_taps = 1, .column_runs = 1, .run_taps = 1, .row_stride = 1,
        .column_stride = 1, .row_dilation = 1, .column_dilation = 1, .top = 0, .left = 0, .pad = 0, .groups = 26,
        .above = -3, .zero_point = -3,
    }, (const uint8_t *)a, w, p, (uint8_t *)y, (uint32_t *)scratch);
}
