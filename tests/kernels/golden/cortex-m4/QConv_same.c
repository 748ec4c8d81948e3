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

/* clamp(v, -128, 127), by one instruction where there is one */
TW_KERNEL int32_t tw_narrow_0_m128_127(int32_t v)
{
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
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

TW_KERNEL int32_t tw_dsp_mmla(int32_t acc, int32_t multiplier, int32_t above)
{
    return above + (int32_t)(((int64_t)acc * multiplier) >> 32);
}

TW_KERNEL int32_t tw_dsp_round(int32_t acc, int32_t word, int32_t zero_point)
{
    const union { uint32_t bits; float scale; } s = {.bits = (uint32_t)word & UINT32_C(0x7fffffff)};
    const float product = (float)acc * s.scale;
    const float v = (product < -1024.0f) ? -1024.0f : ((product > 1024.0f) ? 1024.0f : product);
    const int32_t whole = (int32_t)v;
    const float rest = v - (float)whole;
    const int32_t odd = whole & 1;
    return whole + ((rest > 0.5f) || ((rest == 0.5f) && odd)) - ((rest < -0.5f) || ((rest == -0.5f) && odd))
        + zero_point;
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

typedef struct { /* a convolution of 3x3, stride 1, over a channels-last image */
    /* of x; bytes between rows */
    int32_t width;
    int32_t height;
    int32_t x_row;
    /* of y; bytes between pixels, and rows */
    int32_t out_width;
    int32_t out_height;
    int32_t y_step;
    int32_t y_row;
    int32_t top;
    int32_t left;
    int32_t pad; /* value outside, in every byte */
    int32_t above;
    int32_t zero_point;
} tw_dsp_winograd;

/* The halves of 65536 * high + low, where both have a sign, as halves of a word. */
TW_KERNEL uint32_t tw_dsp_halves(uint32_t sum)
{
#ifdef TW_DSP_ARM
    uint32_t r;
    __asm__("pkhtb %0, %1, %2" : "=r"(r) : "r"(sum + 0x8000u), "r"(sum));
    return r;
#else
    return ((sum + 0x8000u) & UINT32_C(0xffff0000)) | (sum & 0xffffu);
#endif
}

/* Halves of a word with their signs, and a sum modulo 2^32. */
TW_KERNEL int32_t tw_dsp_low_half(uint32_t word)
{
    return (int32_t)(word << 16) >> 16;
}

TW_KERNEL int32_t tw_dsp_high_half(uint32_t word)
{
    return (int32_t)word >> 16;
}

TW_KERNEL int32_t tw_dsp_added(int32_t sum, int32_t product)
{
    return (int32_t)((uint32_t)sum + (uint32_t)product);
}

/* Where a tile begins that is the `at`-th of so many results each: the last one ends where the image does. */
TW_KERNEL int32_t tw_dsp_tile_start(int32_t at, int32_t side, int32_t extent)
{
    const int32_t last = extent - side;
    const int32_t start = at * side;
    return (start <= last) ? start : ((last > 0) ? last : 0);
}

/* Bytes of 6x6 pixels become 36 points. Of each, words of two channels, 18 of all of them, one for each of
 * three tiles in turn. */
static void tw_dsp_winograd4_values_i8_12(const uint8_t *x, int32_t x_row, uint32_t *v)
{
    for (int32_t c = 0; c < 12; c += 4) {
        uint32_t z[72];
        uint32_t *at = z;
        for (int32_t i = 0; i < 6; ++i) {
            const uint8_t *const row = x + (i * x_row) + c;
            const uint32_t x0 = tw_dsp_load(row + 0) ^ UINT32_C(0x80808080);
            const uint32_t x1 = tw_dsp_load(row + 12) ^ UINT32_C(0x80808080);
            const uint32_t x2 = tw_dsp_load(row + 24) ^ UINT32_C(0x80808080);
            const uint32_t x3 = tw_dsp_load(row + 36) ^ UINT32_C(0x80808080);
            const uint32_t x4 = tw_dsp_load(row + 48) ^ UINT32_C(0x80808080);
            const uint32_t x5 = tw_dsp_load(row + 60) ^ UINT32_C(0x80808080);
            {
                const uint32_t d0 = tw_dsp_even_u8(x0);
                const uint32_t d1 = tw_dsp_even_u8(x1);
                const uint32_t d2 = tw_dsp_even_u8(x2);
                const uint32_t d3 = tw_dsp_even_u8(x3);
                const uint32_t d4 = tw_dsp_even_u8(x4);
                const uint32_t d5 = tw_dsp_even_u8(x5);
        const uint32_t as = d4 - d2;
        const uint32_t bs = d3 - d1;
        const uint32_t es = d4 - (d2 << 2);
        const uint32_t fs = d3 - (d1 << 2);
        const uint32_t s0 = as + ((d0 - d2) << 2);
        const uint32_t s1 = es + fs;
        const uint32_t s2 = es - fs;
        const uint32_t s3 = as + (bs << 1);
        const uint32_t s4 = as - (bs << 1);
        const uint32_t s5 = (d5 - d3) - (bs << 2);
                at[0] = s0;
                at[1] = s1;
                at[2] = s2;
                at[3] = s3;
                at[4] = s4;
                at[5] = s5;
            }
            {
                const uint32_t d0 = tw_dsp_odd_u8(x0);
                const uint32_t d1 = tw_dsp_odd_u8(x1);
                const uint32_t d2 = tw_dsp_odd_u8(x2);
                const uint32_t d3 = tw_dsp_odd_u8(x3);
                const uint32_t d4 = tw_dsp_odd_u8(x4);
                const uint32_t d5 = tw_dsp_odd_u8(x5);
        const uint32_t as = d4 - d2;
        const uint32_t bs = d3 - d1;
        const uint32_t es = d4 - (d2 << 2);
        const uint32_t fs = d3 - (d1 << 2);
        const uint32_t s0 = as + ((d0 - d2) << 2);
        const uint32_t s1 = es + fs;
        const uint32_t s2 = es - fs;
        const uint32_t s3 = as + (bs << 1);
        const uint32_t s4 = as - (bs << 1);
        const uint32_t s5 = (d5 - d3) - (bs << 2);
                at[36] = s0;
                at[37] = s1;
                at[38] = s2;
                at[39] = s3;
                at[40] = s4;
                at[41] = s5;
            }
            at += 6;
        }
        for (int32_t half = 0; half < 2; ++half) {
            const uint32_t *from = z + (half * 36);
            uint32_t *to = v + (3 * half);
            for (int32_t j = 0; j < 6; ++j) {
                const uint32_t d0 = from[0];
                const uint32_t d1 = from[6];
                const uint32_t d2 = from[12];
                const uint32_t d3 = from[18];
                const uint32_t d4 = from[24];
                const uint32_t d5 = from[30];
        const uint32_t as = d4 - d2;
        const uint32_t bs = d3 - d1;
        const uint32_t es = d4 - (d2 << 2);
        const uint32_t fs = d3 - (d1 << 2);
        const uint32_t s0 = as + ((d0 - d2) << 2);
        const uint32_t s1 = es + fs;
        const uint32_t s2 = es - fs;
        const uint32_t s3 = as + (bs << 1);
        const uint32_t s4 = as - (bs << 1);
        const uint32_t s5 = (d5 - d3) - (bs << 2);
                to[0] = tw_dsp_halves(s0);
                to[108] = tw_dsp_halves(s1);
                to[216] = tw_dsp_halves(s2);
                to[324] = tw_dsp_halves(s3);
                to[432] = tw_dsp_halves(s4);
                to[540] = tw_dsp_halves(s5);
                ++from;
                to += 18;
            }
        }
        v += 6;
    }
}

/* The points of one tile, whose first pixel may be outside. */
static void tw_dsp_winograd4_tile_i8_12(const tw_dsp_winograd *p, const uint8_t *x, int32_t top, int32_t left,
        uint8_t *bytes, uint32_t *v)
{
    if ((top >= 0) && (left >= 0) && ((top + 6) <= p->height) && ((left + 6) <= p->width)) {
        tw_dsp_winograd4_values_i8_12(x + (top * p->x_row) + (left * 12), p->x_row, v);
        return;
    }
    const int32_t first = (left < 0) ? -left : 0;
    const int32_t last = ((left + 6) > p->width) ? (p->width - left) : 6;
    memset(bytes, p->pad, 432);
    for (int32_t i = 0; i < 6; ++i) {
        const int32_t line = top + i;
        if ((line >= 0) && (line < p->height) && (last > first)) {
            memcpy(bytes + (((6 * i) + first) * 12),
                x + (line * p->x_row) + ((left + first) * 12), (size_t)((last - first) * 12));
        }
    }
    tw_dsp_winograd4_values_i8_12(bytes, 72, v);
}

/* Products of 36 points, summed over channels, of three tiles with two outputs. */
#ifdef TW_DSP_ARM
TW_ASSEMBLER void tw_dsp_winograd4_dsp_block_u6(const uint32_t *v __attribute__((unused)),
        const uint32_t *u __attribute__((unused)), int32_t *m __attribute__((unused)),
        int32_t turns __attribute__((unused)))
{
    __asm__ volatile(
        "push {r4-r11, lr}\n\t"
        "movw r3, #2592\n\t"
        "add r3, r0\n\t"
        "mov lr, r2\n\t"
        "push {r3}\n\t"
        "1:\n\t"
        "ldrd r10, r11, [r1], #8\n\t"
        "ldm r0!, {r2, r3, r12}\n\t"
        "smuad r4, r2, r10\n\t"
        "smuad r5, r2, r11\n\t"
        "smuad r6, r3, r10\n\t"
        "smuad r7, r3, r11\n\t"
        "smuad r8, r12, r10\n\t"
        "smuad r9, r12, r11\n\t"
        "ldrd r10, r11, [r1], #8\n\t"
        "ldm r0!, {r2, r3, r12}\n\t"
        "smlad r4, r2, r10, r4\n\t"
        "smlad r5, r2, r11, r5\n\t"
        "smlad r6, r3, r10, r6\n\t"
        "smlad r7, r3, r11, r7\n\t"
        "smlad r8, r12, r10, r8\n\t"
        "smlad r9, r12, r11, r9\n\t"
        "ldrd r10, r11, [r1], #8\n\t"
        "ldm r0!, {r2, r3, r12}\n\t"
        "smlad r4, r2, r10, r4\n\t"
        "smlad r5, r2, r11, r5\n\t"
        "smlad r6, r3, r10, r6\n\t"
        "smlad r7, r3, r11, r7\n\t"
        "smlad r8, r12, r10, r8\n\t"
        "smlad r9, r12, r11, r9\n\t"
        "ldrd r10, r11, [r1], #8\n\t"
        "ldm r0!, {r2, r3, r12}\n\t"
        "smlad r4, r2, r10, r4\n\t"
        "smlad r5, r2, r11, r5\n\t"
        "smlad r6, r3, r10, r6\n\t"
        "smlad r7, r3, r11, r7\n\t"
        "smlad r8, r12, r10, r8\n\t"
        "smlad r9, r12, r11, r9\n\t"
        "ldrd r10, r11, [r1], #8\n\t"
        "ldm r0!, {r2, r3, r12}\n\t"
        "smlad r4, r2, r10, r4\n\t"
        "smlad r5, r2, r11, r5\n\t"
        "smlad r6, r3, r10, r6\n\t"
        "smlad r7, r3, r11, r7\n\t"
        "smlad r8, r12, r10, r8\n\t"
        "smlad r9, r12, r11, r9\n\t"
        "ldrd r10, r11, [r1], #8\n\t"
        "ldm r0!, {r2, r3, r12}\n\t"
        "smlad r4, r2, r10, r4\n\t"
        "smlad r5, r2, r11, r5\n\t"
        "smlad r6, r3, r10, r6\n\t"
        "smlad r7, r3, r11, r7\n\t"
        "smlad r8, r12, r10, r8\n\t"
        "smlad r9, r12, r11, r9\n\t"
        "stm lr!, {r4-r9}\n\t"
        "ldr r2, [sp]\n\t"
        "cmp r0, r2\n\t"
        "bne 1b\n\t"
        "add sp, #4\n\t"
        "pop {r4-r11, pc}" ::: "memory");
}
#else
static void tw_dsp_winograd4_dsp_block_u6(const uint32_t *v, const uint32_t *u, int32_t *m, int32_t turns)
{
    const int32_t pairs = 6 * turns;
    for (int32_t point = 0; point < 36; ++point) {
        for (int32_t tile = 0; tile < 3; ++tile) {
            const uint32_t *x = v + tile;
            const uint32_t *w = u;
            int32_t first = 0;
            int32_t second = 0;
            for (int32_t pair = 0; pair < pairs; ++pair) {
                const int32_t low = tw_dsp_low_half(*x);
                const int32_t high = tw_dsp_high_half(*x);
                first = tw_dsp_added(first, tw_dsp_low_half(w[0]) * low);
                second = tw_dsp_added(second, tw_dsp_low_half(w[1]) * low);
                first = tw_dsp_added(first, tw_dsp_high_half(w[0]) * high);
                second = tw_dsp_added(second, tw_dsp_high_half(w[1]) * high);
                x += 3;
                w += 2;
            }
            m[2 * tile] = first;
            m[(2 * tile) + 1] = second;
        }
        v += 3 * pairs;
        u += 2 * pairs;
        m += 6;
    }
}
#endif

/* The sums of two outputs of `count` tiles become results. `to`: where those of each tile begin. */
static void tw_dsp_winograd4_results_x0_m128_127(const tw_dsp_winograd *p, const int32_t *m, int32_t count,
        uint8_t *const *to, const int32_t *parameters)
{
    const int32_t y_row = p->y_row;
    const int32_t y_step = p->y_step;
    const int32_t above = p->above;
    const int32_t zero_point = p->zero_point;
    for (int32_t k = 0; k < (2 * count); ++k) {
        const int32_t *const own = parameters + ((k & 1) * 2);
        const uint32_t bias = (uint32_t)own[0];
        const int32_t word0 = own[1];
        uint32_t z[4][6];
        uint8_t *y = to[k >> 1] + (k & 1);
        for (int32_t j = 0; j < 6; ++j) {
            const uint32_t d0 = (uint32_t)m[(6 * j) + 0];
            const uint32_t d1 = (uint32_t)m[(6 * j) + 36];
            const uint32_t d2 = (uint32_t)m[(6 * j) + 72];
            const uint32_t d3 = (uint32_t)m[(6 * j) + 108];
            const uint32_t d4 = (uint32_t)m[(6 * j) + 144];
            const uint32_t d5 = (uint32_t)m[(6 * j) + 180];
            const uint32_t o = d1 + d2;
            const uint32_t q = d1 - d2;
            const uint32_t r = d3 + d4;
            const uint32_t t = d3 - d4;
            const uint32_t s0 = r - (o << 2) + ((d0 + (d0 << 1)) << 1);
            const uint32_t s1 = t - (q << 1);
            const uint32_t s2 = r - o;
            const uint32_t s3 = (t << 1) - q + ((d5 + (d5 << 1)) << 1);
            z[0][j] = s0;
            z[1][j] = s1 << 1;
            z[2][j] = s2 << 2;
            z[3][j] = s3 << 2;
        }
        ++m;
        for (int32_t i = 0; i < 4; ++i) {
            const uint32_t d0 = z[i][0];
            const uint32_t d1 = z[i][1];
            const uint32_t d2 = z[i][2];
            const uint32_t d3 = z[i][3];
            const uint32_t d4 = z[i][4];
            const uint32_t d5 = z[i][5];
            const uint32_t o = d1 + d2;
            const uint32_t q = d1 - d2;
            const uint32_t r = d3 + d4;
            const uint32_t t = d3 - d4;
            const uint32_t s0 = r - (o << 2) + ((d0 + (d0 << 1)) << 1);
            const uint32_t s1 = t - (q << 1);
            const uint32_t s2 = r - o;
            const uint32_t s3 = (t << 1) - q + ((d5 + (d5 << 1)) << 1);
            y[0] = tw_dsp_requantise_x0_m128_127((int32_t)(bias + (uint32_t)((int32_t)(s0 * UINT32_C(954437177)) >> 6)),
                word0, above, zero_point);
            y[1 * y_step] = tw_dsp_requantise_x0_m128_127((int32_t)(bias
                + (uint32_t)((int32_t)(s1 * UINT32_C(954437177)) >> 5)), word0, above, zero_point);
            y[2 * y_step] = tw_dsp_requantise_x0_m128_127((int32_t)(bias
                + (uint32_t)((int32_t)(s2 * UINT32_C(954437177)) >> 4)), word0, above, zero_point);
            y[3 * y_step] = tw_dsp_requantise_x0_m128_127((int32_t)(bias
                + (uint32_t)((int32_t)(s3 * UINT32_C(954437177)) >> 4)), word0, above, zero_point);
            y += y_row;
        }
    }
}

/* Tiles of 4x4 results, three at a time, with two outputs at a time. The last tile of a row or column ends where
 * that does. */
TW_KERNEL void tw_dsp_winograd4_dsp_i8_12_18_x0_m128_127(const tw_dsp_winograd p, const uint8_t *x, const uint32_t *w,
        const int32_t *parameters, uint8_t *y, uint32_t *scratch)
{
    int32_t *const m = (int32_t *)(void *)(scratch + 648);
    const int32_t across = (p.out_width + 3) / 4;
    const int32_t tiles = across * ((p.out_height + 3) / 4);
    for (int32_t first = 0; first < tiles; first += 3) {
        const int32_t count = ((tiles - first) < 3) ? (tiles - first) : 3;
        uint8_t *to[3];
        for (int32_t k = 0; k < count; ++k) {
            const int32_t line = (first + k) / across;
            const int32_t i = tw_dsp_tile_start(line, 4, p.out_height);
            const int32_t j = tw_dsp_tile_start((first + k) - (line * across), 4, p.out_width);
            to[k] = y + (i * p.y_row) + (j * 18);
            tw_dsp_winograd4_tile_i8_12(&p, x, i - p.top, j - p.left, (uint8_t *)m, scratch + k);
        }
        for (int32_t o = 0; o < 18; o += 2) {
            tw_dsp_winograd4_dsp_block_u6(scratch, w + (o * 216), m, 1);
            tw_dsp_winograd4_results_x0_m128_127(&p, m, count, to, parameters + (o * 2));
            for (int32_t k = 0; k < count; ++k) {
                to[k] += 2;
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 3: Transpose
 *   nodes    qconv_same_0:X
 *   kernel   portable.transpose
 *   X        i8[1,12,27,25]                 ram [0, 8100)       qconv_same_0_in0
 *   Y        i8[1,12,27,25] axes (0,2,3,1)  ram [12152, 20252)  qconv_same_0_in0:qconv_same_0:X
 */
TW_STEP void net_0_transpose(uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QCONV_SAME_0_IN0);
    int8_t *const y = (int8_t *)(ram + TRANSPOSE_0_OUT);
    tw_copy_i8_2(675, 12, x, 1, 675, y, 12, 1);
}

/* Step 1 of 3: QConv
 *   nodes    qconv_same_0
 *   kernel   cortex-m.dsp.winograd4
 *   X        i8[1,12,27,25] axes (0,2,3,1)  ram [12152, 20252)  qconv_same_0_in0:qconv_same_0:X
 *   W        u32[3888]                      flash [160, 15712)  qconv_same_0.W
 *   P        i32[36]                        flash [16, 160)     qconv_same_0.P
 *   Y        i8[1,18,27,25] axes (0,2,3,1)  ram [0, 12150)      qconv_same_0_out0:qconv_same_0:Y
 *   scratch  u8[3456]                       ram [20256, 23712)
 */
TW_STEP void net_1_qconv(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + TRANSPOSE_0_OUT);
    const uint32_t *const w = (const uint32_t *)(flash + QCONV_1_W);
    const int32_t *const p = (const int32_t *)(flash + QCONV_1_P);
    int8_t *const y = (int8_t *)(ram + QCONV_1_OUT);
    uint8_t *const scratch = ram + QCONV_1_SCRATCH;
    tw_dsp_winograd4_dsp_i8_12_18_x0_m128_127((tw_dsp_winograd){
        .width = 25, .height = 27, .x_row = 300, .out_width = 25, .out_height = 27, .y_step = 18, .y_row = 450,
        .top = 1, .left = 1, .pad = -4, .above = -3, .zero_point = -3,
    }, (const uint8_t *)x, w, p, (uint8_t *)y, (uint32_t *)scratch);
}

/* Step 2 of 3: Transpose
 *   nodes    qconv_same_0:Y
 *   kernel   portable.transpose
 *   X        i8[1,18,27,25] axes (0,2,3,1)  ram [0, 12150)      qconv_same_0_out0:qconv_same_0:Y
 *   Y        i8[1,18,27,25]                 ram [12152, 24302)  qconv_same_0_out0
 */
TW_STEP void net_2_transpose(uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + QCONV_1_OUT);
    int8_t *const y = (int8_t *)(ram + TRANSPOSE_2_OUT);
    tw_copy_i8_2(18, 675, x, 1, 18, y, 675, 1);
}
