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

TW_KERNEL void tw_copy_i8_2(int32_t n0, int32_t n1, const int8_t *x_in, int32_t x0, int32_t x1, int8_t *y_out,
        int32_t y0, int32_t y1)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            const int8_t x = x_in[i0 * x0 + i1 * x1];
            y_out[i0 * y0 + i1 * y1] = x;
        }
    }
}

typedef struct { /* windows over a channels-last image, each channel on its own */
    /* of x; bytes between rows */
    int32_t width;
    int32_t height;
    int32_t channels;
    int32_t x_row;
    int32_t out_width;
    int32_t out_height;
    int32_t y_row;
    /* of the kernel */
    int32_t rows;
    int32_t columns;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t column_dilation;
    int32_t top;
    int32_t left;
    int32_t pad; /* value outside, as a byte */
} tw_depthwise;

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

/* The channels of one pixel and of its right neighbour: a pair of halves for each channel's row. */
TW_KERNEL void tw_dsp_planes_i8_pair(uint32_t one, uint32_t next, uint32_t *to, int32_t words)
{
    const uint32_t a = tw_dsp_even_i8(one);
    const uint32_t b = tw_dsp_odd_i8(one);
    const uint32_t c = tw_dsp_even_i8(next);
    const uint32_t d = tw_dsp_odd_i8(next);
    to[0] = tw_dsp_low(a, c);
    to[3 * words] = tw_dsp_low(b, d);
    to[6 * words] = tw_dsp_high(a, c);
    to[9 * words] = tw_dsp_high(b, d);
}

/* One row of x, these channels, into the rings of each. The first pixel is the second of a pair where `left` is odd. */
static void tw_dsp_planes_i8(const tw_depthwise *p, const uint8_t *x, int32_t x_step, uint32_t pad, uint32_t *to,
        int32_t words)
{
    int32_t at = 0;
    to += p->left / 2 * 3;
    if (p->left & 1) {
        tw_dsp_planes_i8_pair(pad, tw_dsp_load(x), to, words);
        to += 3;
        x += x_step;
        at = 1;
    }
    for (; (at + 2) <= p->width; at += 2) {
        tw_dsp_planes_i8_pair(tw_dsp_load(x), tw_dsp_load(x + x_step), to, words);
        to += 3;
        x += 2 * x_step;
    }
    if (at < p->width) {
        tw_dsp_planes_i8_pair(tw_dsp_load(x), pad, to, words);
    }
}

/* What a row of a depthwise 3x3 is given. */
typedef struct {
    const uint32_t *ring; /* of one channel: pairs of neighbours, of three rows in turn */
    const uint32_t *taps; /* of one channel, in the order of the ring: ten words */
    const int32_t *parameters; /* of each channel: bias, multiplier */
    uint8_t *y;
    int32_t bytes; /* of the ring that whole steps read first */
    int32_t odd; /* all bits set where one more result follows those of whole steps */
    int32_t apart; /* bytes between the rings of channels */
    /* see tw_dsp_requant */
    int32_t above;
    int32_t zero_point;
    int32_t y_step;
    int32_t channels;
} tw_dsp_row;

typedef void tw_dsp_row_of(tw_dsp_row *b);

#ifdef TW_DSP_ARM
/* What comes first for each of the channels. Registers: r0 ring, r1 results, r2 end of the ring, r4 to r9
 * weights, r10 and r11 sums (or r11 the way to the next result), r3, r12 and lr values. Stack: bias, multiplier, what
 * it is moved by, way to the next result, the struct, channels left. */
#define TW_DSP_ROW_BEGIN \
    "push {r4-r11, lr}\n\t" \
    "sub sp, #24\n\t" \
    "ldr r1, [r0, #40]\n\t" \
    "strd r0, r1, [sp, #16]\n\t" \
    "1:\n\t" \
    "ldr r11, [sp, #16]\n\t" \
    "ldmia r11, {r0-r3}\n\t" \
    "ldmia r1, {r4-r9}\n\t" \
    "ldrd r10, r12, [r2], #8\n\t" \
    "strd r10, r12, [sp]\n\t" \
    "ldr lr, [r11, #24]\n\t" \
    "add lr, r0\n\t" \
    "adds r1, #40\n\t" \
    "strd lr, r1, [r11]\n\t" \
    "add lr, r3, #1\n\t" \
    "strd r2, lr, [r11, #8]\n\t" \
    "mov r1, r3\n\t" \
    "ldr lr, [r11, #36]\n\t" \
    "str lr, [sp, #12]\n\t" \
    "ldr r2, [r11, #16]\n\t" \
    "add r2, r0\n\t"
#endif

#ifdef TW_DSP_ARM
#define TW_DSP_ROW_S1_PRODUCTS \
    "ldr r10, [sp]\n\t" \
    "ldrd r12, lr, [r0]\n\t" \
    "mov r11, r10\n\t" \
    "smlad r10, r12, r4, r10\n\t" \
    "smlatb r11, r12, r4, r11\n\t" \
    "smlad r10, lr, r6, r10\n\t" \
    "smlatb r11, lr, r6, r11\n\t" \
    "ldrd r12, lr, [r0, #8]\n\t" \
    "smlad r10, r12, r8, r10\n\t" \
    "smlatb r11, r12, r8, r11\n\t" \
    "smlabt r10, lr, r5, r10\n\t" \
    "smlad r11, lr, r5, r11\n\t" \
    "ldrd r12, lr, [r0, #16]\n\t" \
    "smlabt r10, r12, r7, r10\n\t" \
    "smlad r11, r12, r7, r11\n\t" \
    "smlabt r10, lr, r9, r10\n\t" \
    "smlad r11, lr, r9, r11\n\t"
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
#define TW_DSP_ROW_S1_X_M128_127(shift) \
    TW_DSP_ROW_BEGIN \
    "ldr r12, [r11, #32]\n\t" \
    "str r12, [sp, #8]\n\t" \
    "vldr s1, [sp, #4]\n\t" \
    "vabs.f32 s1, s1\n\t" \
    "cmp r0, r2\n\t" \
    "beq 30f\n\t" \
    "20:\n\t" \
    TW_DSP_ROW_S1_PRODUCTS \
    "ldr r3, [sp, #8]\n\t" \
    TW_DSP_EXACT(r10, r3, ssat, 8) \
    TW_DSP_EXACT(r11, r3, ssat, 8) \
    "ldr lr, [sp, #12]\n\t" \
    "strb r11, [r1, lr]\n\t" \
    "strb r10, [r1]\n\t" \
    "add r1, r1, lr, lsl #1\n\t" \
    "adds r0, #12\n\t" \
    "cmp r0, r2\n\t" \
    "bne 20b\n\t" \
    "30:\n\t" \
    "ldr r12, [sp, #16]\n\t" \
    "ldr r3, [r12, #20]\n\t" \
    "ldr lr, [sp, #12]\n\t" \
    "ands r3, lr\n\t" \
    "beq 4f\n\t" \
    "movs r3, #0\n\t" \
    "str r3, [sp, #12]\n\t" \
    "add r2, r0, #12\n\t" \
    "b 20b\n\t" \
    "4:\n\t" \
    "ldr r3, [sp, #20]\n\t" \
    "subs r3, #1\n\t" \
    "str r3, [sp, #20]\n\t" \
    "bne 1b\n\t" \
    "add sp, #24\n\t" \
    "pop {r4-r11, pc}\n\t"
#endif

#ifndef TW_DSP_ARM
TW_KERNEL void tw_dsp_row_s1(const tw_dsp_row *b, int32_t shift, int32_t low, int32_t high)
{
    const int32_t count = (b->bytes / 6) + (b->odd ? 1 : 0);
    for (int32_t c = 0; c < b->channels; ++c) {
        const uint32_t *const ring = b->ring + (c * (b->apart / 4));
        const uint32_t *const w = b->taps + (10 * c);
        const int32_t *const p = b->parameters + (2 * c);
        for (int32_t i = 0; i < count; ++i) {
            int32_t sum = p[0];
            for (int32_t k = 0; k < 3; ++k) {
                const uint32_t x = ring[(i / 2 * 3) + k];
                const uint32_t next = ring[(i / 2 * 3) + 3 + k];
                sum = (i % 2) ? tw_dsp_mlatb(x, w[2 * k], sum) : tw_dsp_mlad(x, w[2 * k], sum);
                sum = (i % 2) ? tw_dsp_mlad(next, w[(2 * k) + 1], sum) : tw_dsp_mlabt(next, w[(2 * k) + 1], sum);
            }
            b->y[(i * b->y_step) + c] = (uint8_t)tw_dsp_requant(sum, p[1], b->above, shift, b->zero_point, low, high);
        }
    }
}
#endif

#ifdef TW_DSP_ARM
TW_ASSEMBLER void tw_dsp_rows_s1_x0_m128_127(tw_dsp_row *b __attribute__((unused)))
{
    __asm__ volatile(TW_DSP_ROW_S1_X_M128_127(0) ::: "memory");
}
#else
static void tw_dsp_rows_s1_x0_m128_127(tw_dsp_row *b)
{
    tw_dsp_row_s1(b, 0, -128, 127);
}
#endif

/* The three rows of weights of one channel, as pairs (0, 1) and (1, 2), and the first two rows again. */
TW_KERNEL void tw_dsp_taps(const uint8_t *w, uint32_t *to)
{
    for (int32_t k = 0; k < 3; ++k) {
        const uint32_t v = (uint32_t)w[3 * k] | ((uint32_t)w[(3 * k) + 1] << 8) | ((uint32_t)w[(3 * k) + 2] << 16);
        const uint32_t even = tw_dsp_even_i8(v);
        const uint32_t odd = tw_dsp_odd_i8(v);
        to[2 * k] = tw_dsp_low(even, odd);
        to[(2 * k) + 1] = tw_dsp_low(odd, even >> 16);
    }
    for (int32_t k = 0; k < 4; ++k) {
        to[6 + k] = to[k];
    }
}

/* 4 channels at a time; where they do not come out even, the last ones are taken apart with some that were
 * computed before. Input row r is in slot r % 3. Results may take the bytes of x that they are computed from.
 * `x_step` and `y_step` are bytes between neighbours of a row; `computed` is what computes a row. */
static void tw_dsp_depthwise_i8_s1(const tw_depthwise p, const uint8_t *x, const uint8_t *w, const int32_t *parameters,
        uint8_t *y, void *scratch, int32_t x_step, int32_t y_step, int32_t words, int32_t above, int32_t zero_point,
        tw_dsp_row_of *computed)
{
    const uint32_t pad = (uint32_t)p.pad * UINT32_C(0x01010101);
    uint32_t *const taps = scratch;
    uint32_t *const ring = taps + 40;
    for (int32_t i = 0; i < (12 * words); ++i) { /* columns outside stay what they are */
        ring[i] = tw_dsp_even_i8(pad);
    }
    tw_dsp_row row = {.apart = 12 * words, .bytes = p.out_width / 2 * 12,
        .odd = -(p.out_width & 1), .above = above, .zero_point = zero_point, .y_step = y_step};
    for (int32_t group = 0; group < p.channels; group += 4) {
        const int32_t c = ((group + 4) <= p.channels) ? group : (p.channels - 4);
        const int32_t before = group - c;
        for (int32_t i = 0; i < 4; ++i) {
            tw_dsp_taps(w + (9 * (c + i)), taps + (10 * i));
        }
        /* rows of x, from -top, and the next one's slot */
        int32_t loaded = 0;
        int32_t slot = 0;
        for (int32_t i = 0; i < p.out_height; ++i) {
            for (; loaded < ((i * p.row_stride) + 3); ++loaded) {
                const int32_t line = loaded - p.top;
                uint32_t *const to = ring + slot;
                if ((line >= 0) && (line < p.height)) {
                    tw_dsp_planes_i8(&p, x + (line * p.x_row) + c, x_step, pad, to, words);
                } else {
                    for (int32_t k = 0; k < (4 * words); ++k) {
                        to[3 * k] = tw_dsp_even_i8(pad);
                    }
                }
                slot = (slot == 2) ? 0 : (slot + 1);
            }
            /* slot `slot` holds the first of the three, `slot + 1` the second: slot 0 is tap row -slot */
            row.ring = ring + (3 * before * words);
            row.taps = taps + (10 * before) + (2 * ((slot == 0) ? 0 : (3 - slot)));
            row.parameters = parameters + (2 * group);
            row.y = y + (i * p.y_row) + group;
            row.channels = 4 - before;
            computed(&row);
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 3: Transpose
 *   nodes    qconv_depthwise_0:X
 *   kernel   portable.transpose
 *   X        i8[1,12,27,25]                 ram [0, 8100)      qconv_depthwise_0_in0
 *   Y        i8[1,12,27,25] axes (0,2,3,1)  ram [8100, 16200)  qconv_depthwise_0_in0:qconv_depthwise_0:X
 */
TW_STEP void net_0_transpose(uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QCONV_DEPTHWISE_0_IN0);
    int8_t *const y = (int8_t *)(ram + TRANSPOSE_0_OUT);
    tw_copy_i8_2(675, 12, x, 1, 675, y, 12, 1);
}

/* Step 1 of 3: QConv
 *   nodes    qconv_depthwise_0
 *   kernel   cortex-m.dsp.depthwise3x3_columns
 *   X        i8[1,12,27,25] axes (0,2,3,1)  ram [8100, 16200)  qconv_depthwise_0_in0:qconv_depthwise_0:X
 *   W        u8[108]                        flash [112, 220)   qconv_depthwise_0.W
 *   P        i32[24]                        flash [16, 112)    qconv_depthwise_0.P
 *   Y        i8[1,12,27,25] axes (0,2,3,1)  ram [8100, 16200)  qconv_depthwise_0_out0:qconv_depthwise_0:Y
 *   scratch  u8[880]                        ram [0, 880)
 */
TW_STEP void net_1_qconv(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + TRANSPOSE_0_OUT);
    const uint8_t *const w = flash + QCONV_1_W;
    const int32_t *const p = (const int32_t *)(flash + QCONV_1_P);
    int8_t *const y = (int8_t *)(ram + TRANSPOSE_0_OUT);
    uint8_t *const scratch = ram + QCONV_1_SCRATCH;
    tw_dsp_depthwise_i8_s1((tw_depthwise){
        .width = 27, .height = 25, .channels = 12, .x_row = 12, .out_width = 27, .out_height = 25, .y_row = 12,
        .rows = 3, .columns = 3, .row_stride = 1, .column_stride = 1, .row_dilation = 1, .column_dilation = 1, .top = 1,
        .left = 1, .pad = 252,
    }, (const uint8_t *)x, w, p, (uint8_t *)y, (void *)scratch, 300, 300, 15, -3, -3, tw_dsp_rows_s1_x0_m128_127);
}

/* Step 2 of 3: Transpose
 *   nodes    qconv_depthwise_0:Y
 *   kernel   portable.transpose
 *   X        i8[1,12,27,25] axes (0,2,3,1)  ram [8100, 16200)  qconv_depthwise_0_out0:qconv_depthwise_0:Y
 *   Y        i8[1,12,27,25]                 ram [0, 8100)      qconv_depthwise_0_out0
 */
TW_STEP void net_2_transpose(uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + TRANSPOSE_0_OUT);
    int8_t *const y = (int8_t *)(ram + TRANSPOSE_2_OUT);
    tw_copy_i8_2(12, 675, x, 1, 12, y, 675, 1);
}
