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

typedef struct {
    /* positions of one axis that lie inside: the first one's place in x, and how many */
    int32_t first;
    int32_t count;
} tw_inside;

/* Of `taps` positions, `dilation` apart and beginning at `start`, those below `end`. */
TW_KERNEL int32_t tw_taps_to(int32_t start, int32_t taps, int32_t dilation, int32_t end)
{
    const int32_t room = end - start;
    const int32_t below = (room <= 0) ? 0 : ((room + dilation - 1) / dilation);
    return (below < taps) ? below : taps;
}

TW_KERNEL tw_inside tw_inside_of(int32_t start, int32_t taps, int32_t dilation, int32_t extent)
{
    const int32_t before = tw_taps_to(start, taps, dilation, 0);
    const tw_inside inside = {
        .first = start + (before * dilation), .count = tw_taps_to(start, taps, dilation, extent) - before};
    return inside;
}

typedef struct { /* windows over a channels-last image */
    /* of x; bytes between rows */
    int32_t width;
    int32_t height;
    int32_t channels;
    int32_t x_row;
    int32_t out_width;
    int32_t out_height;
    int32_t y_row;
    /* of a window */
    int32_t rows;
    int32_t columns;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t column_dilation;
    int32_t top;
    int32_t left;
} tw_windows;

/* The larger one of each pair of bytes. */
TW_KERNEL uint32_t tw_dsp_max_i8(uint32_t a, uint32_t b)
{
#ifdef TW_DSP_ARM
    uint32_t r;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(r) : "r"(a), "r"(b) : "cc");
    return r;
#else
    uint32_t r = 0;
    for (int32_t i = 0; i < 4; ++i) {
        const int32_t u = tw_dsp_byte(a, i);
        const int32_t v = tw_dsp_byte(b, i);
        r |= ((uint32_t)((u > v) ? u : v) & 255) << (8 * i);
    }
    return r;
#endif
}

/* Bytes 0 and 2, or 1 and 3, added to two sums of 16 bits. */
TW_KERNEL uint32_t tw_dsp_add_even_i8(uint32_t sums, uint32_t v)
{
#ifdef TW_DSP_ARM
    __asm__("sxtab16 %0, %0, %1" : "+r"(sums) : "r"(v));
    return sums;
#else
    const uint32_t x = tw_dsp_even_i8(v);
    return ((sums + x) & 65535) | ((sums & UINT32_C(0xffff0000)) + (x & UINT32_C(0xffff0000)));
#endif
}

TW_KERNEL uint32_t tw_dsp_add_odd_i8(uint32_t sums, uint32_t v)
{
#ifdef TW_DSP_ARM
    __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(sums) : "r"(v));
    return sums;
#else
    return tw_dsp_add_even_i8(sums, v >> 8);
#endif
}

/* The largest value of every window, four channels at a time, the last ones again where they do not come out even. */
TW_KERNEL void tw_dsp_max_pool_i8(const tw_windows p, const uint8_t *x, uint8_t *y)
{
    for (int32_t i = 0; i < p.out_height; ++i) {
        const tw_inside rows = tw_inside_of((i * p.row_stride) - p.top, p.rows, p.row_dilation, p.height);
        for (int32_t j = 0; j < p.out_width; ++j) {
            const tw_inside columns = tw_inside_of((j * p.column_stride) - p.left, p.columns, p.column_dilation,
                p.width);
            const uint8_t *const from = x + (rows.first * p.x_row) + (columns.first * p.channels);
            for (int32_t group = 0; group < p.channels; group += 4) {
                const int32_t c = ((group + 4) <= p.channels) ? group : (p.channels - 4);
                const uint8_t *at = from + c;
                uint32_t largest = UINT32_C(0x80808080);
                for (int32_t r = 0; r < rows.count; ++r) {
                    const uint8_t *tap = at;
                    for (int32_t k = columns.count; k > 0; --k) {
                        largest = tw_dsp_max_i8(tw_dsp_load(tap), largest);
                        tap += p.column_dilation * p.channels;
                    }
                    at += p.row_dilation * p.x_row;
                }
                memcpy(y + c, &largest, sizeof largest);
            }
            y += p.channels;
        }
        y += p.y_row - (p.out_width * p.channels);
    }
}

/* ---- steps ---- */

/* Step 0 of 3: Transpose
 *   nodes    maxpool_bytes_0:X
 *   kernel   portable.transpose
 *   X        i8[1,12,27,25]                 ram [0, 8100)      maxpool_bytes_0_in0
 *   Y        i8[1,12,27,25] axes (0,2,3,1)  ram [8100, 16200)  maxpool_bytes_0_in0:maxpool_bytes_0:X
 */
TW_STEP void net_0_transpose(uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_MAXPOOL_BYTES_0_IN0);
    int8_t *const y = (int8_t *)(ram + TRANSPOSE_0_OUT);
    tw_copy_i8_2(675, 12, x, 1, 675, y, 12, 1);
}

/* Step 1 of 3: MaxPool
 *   nodes    maxpool_bytes_0
 *   kernel   cortex-m.dsp.max_pool
 *   X        i8[1,12,27,25] axes (0,2,3,1)  ram [8100, 16200)  maxpool_bytes_0_in0:maxpool_bytes_0:X
 *   Y        i8[1,12,14,13] axes (0,2,3,1)  ram [0, 2184)      maxpool_bytes_0_out0:maxpool_bytes_0:Y
 */
TW_STEP void net_1_maxpool(uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + TRANSPOSE_0_OUT);
    int8_t *const y = (int8_t *)(ram + MAXPOOL_1_OUT);
    tw_dsp_max_pool_i8((tw_windows){
        .width = 25, .height = 27, .channels = 12, .x_row = 300, .out_width = 13, .out_height = 14, .y_row = 156,
        .rows = 3, .columns = 2, .row_stride = 2, .column_stride = 2, .row_dilation = 1, .column_dilation = 1, .top = 1,
        .left = 0,
    }, (const uint8_t *)x, (uint8_t *)y);
}

/* Step 2 of 3: Transpose
 *   nodes    maxpool_bytes_0:Y
 *   kernel   portable.transpose
 *   X        i8[1,12,14,13] axes (0,2,3,1)  ram [0, 2184)     maxpool_bytes_0_out0:maxpool_bytes_0:Y
 *   Y        i8[1,12,14,13]                 ram [2184, 4368)  maxpool_bytes_0_out0
 */
TW_STEP void net_2_transpose(uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + MAXPOOL_1_OUT);
    int8_t *const y = (int8_t *)(ram + TRANSPOSE_2_OUT);
    tw_copy_i8_2(12, 182, x, 1, 12, y, 182, 1);
}
