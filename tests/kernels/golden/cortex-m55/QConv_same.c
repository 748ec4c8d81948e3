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

/* Define TW_CACHE_MAINTENANCE where the data cache is on and a DMA fills inputs or sends outputs away; or your own
 * macro. */
#ifndef TW_CACHE_FLUSH
#  ifdef TW_CACHE_MAINTENANCE
TW_KERNEL void tw_cache_flush(const void *start, uint32_t bytes)
{
    const uintptr_t end = (uintptr_t)start + bytes;
    __asm__ volatile("dsb" ::: "memory");
    for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)31; line < end; line += 32u) {
        *(volatile uint32_t *)0xE000EF70u = (uint32_t)line; /* DCCIMVAC: clean and invalidate by address */
    }
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
#    define TW_CACHE_FLUSH(start, bytes) tw_cache_flush((start), (bytes))
#  else
#    define TW_CACHE_FLUSH(start, bytes) ((void)0)
#  endif
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

/* What Helium does better than compilers know, and the same in C. Unoptimised code (-O0) is C throughout: it keeps a
 * register for the frame, and assembly that needs all others would not compile. */

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) && defined(__OPTIMIZE__)
#  define TW_MVE_ARM 1
/* `count` bytes, any number of them, each xor `flip` (0 or 128). Returns the end of what was written. */
TW_KERNEL int8_t *tw_mve_copy(int8_t *to, const void *from, int32_t count, int32_t flip)
{
    int8_t *at = to;
    const uint8_t *x = from;
    __asm__ volatile(
        "vdup.8 q1, %3\n\t"
        "wlstp.8 lr, %2, 2f\n\t"
        "1:\n\t"
        "vldrb.u8 q0, [%1], #16\n\t"
        "veor q0, q0, q1\n\t"
        "vstrb.8 q0, [%0], #16\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : "+&r"(at), "+&r"(x) : "r"(count), "r"(flip) : "lr", "q0", "q1", "cc", "memory");
    return to + count;
}

TW_KERNEL int8_t *tw_mve_fill(int8_t *to, int32_t value, int32_t count)
{
    int8_t *at = to;
    __asm__ volatile(
        "vdup.8 q0, %2\n\t"
        "wlstp.8 lr, %1, 2f\n\t"
        "1:\n\t"
        "vstrb.8 q0, [%0], #16\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : "+&r"(at) : "r"(count), "r"(value) : "lr", "q0", "cc", "memory");
    return to + count;
}
#else
TW_KERNEL int8_t *tw_mve_copy(int8_t *to, const void *from, int32_t count, int32_t flip)
{
    const uint8_t *const x = from;
    for (int32_t i = 0; i < count; ++i) {
        to[i] = (int8_t)((x[i] ^ flip) & 255);
    }
    return to + count;
}

TW_KERNEL int8_t *tw_mve_fill(int8_t *to, int32_t value, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        to[i] = (int8_t)value;
    }
    return to + count;
}
#endif

/* clamp(rne(acc * scale) + zero_point, low, high) */
TW_KERNEL int32_t tw_mve_requant(int32_t acc, float scale, int32_t zero_point, int32_t low, int32_t high)
{
    const float product = (float)acc * scale;
    const float v = (product < -1024.0f) ? -1024.0f : ((product > 1024.0f) ? 1024.0f : product);
    const int32_t whole = (int32_t)v;
    const float rest = v - (float)whole;
    const int32_t odd = whole & 1;
    const int32_t up = (rest > 0.5f) || ((rest == 0.5f) && odd);
    const int32_t down = (rest < -0.5f) || ((rest == -0.5f) && odd);
    const int32_t q = whole + up - down + zero_point;
    return (q < low) ? low : ((q > high) ? high : q);
}

/* What a block is given. */
typedef struct {
    /* values of two pixels, in one run each */
    const int8_t *x;
    const int8_t *other;
    const int8_t *w; /* sixteen of each channel of a block in turn, then what is left of each */
    const int32_t *parameters; /* of each block: four biases, then four scales as they are stored */
    uint8_t *y;
    int32_t apart; /* bytes between the results of the two */
    int32_t blocks;
    int32_t steps; /* trips of the inner loop */
    int32_t zero_point;
    int32_t more[2]; /* added to the sums of each pixel, where the pixels differ */
} tw_mve_block;

#ifdef TW_MVE_ARM
#define TW_MVE_2X4_BEGIN \
    "push {r4-r11, lr}\n\t" \
    "ldmia r0, {r1-r9}\n\t" \
    "push {r1-r9}\n\t" \
    "mov r7, r5\n\t" \
    "mov r5, r3\n\t" \
    "mov r9, r4\n\t" \
    "1:\n\t" \
    "ldrd r1, r3, [sp]\n\t" \
    "ldrd r0, r2, [r9], #8\n\t" \
    "ldrd r4, r6, [r9], #8\n\t" \
    "mov r8, r0\n\t" \
    "mov r10, r2\n\t" \
    "mov r12, r4\n\t" \
    "mov lr, r6\n\t"
/* the inner loop: `sixteens` is what a trip computes */
#define TW_MVE_2X4_LOOP(sixteens) \
    "ldr r11, [sp, #28]\n\t" \
    "2:\n\t" \
    sixteens \
    "subs r11, #1\n\t" \
    "bne 2b\n\t"

/* sixteen values of every pixel */
#define TW_MVE_2X4_SIXTEEN \
    "vldrb.s8 q0, [r1], #16\n\t" \
    "vldrb.s8 q1, [r3], #16\n\t" \
    "vldrb.s8 q2, [r5], #16\n\t" \
    "vmladava.s8 r0, q0, q2\n\t" \
    "vmladava.s8 r8, q1, q2\n\t" \
    "vldrb.s8 q3, [r5], #16\n\t" \
    "vmladava.s8 r2, q0, q3\n\t" \
    "vmladava.s8 r10, q1, q3\n\t" \
    "vldrb.s8 q2, [r5], #16\n\t" \
    "vmladava.s8 r4, q0, q2\n\t" \
    "vmladava.s8 r12, q1, q2\n\t" \
    "vldrb.s8 q3, [r5], #16\n\t" \
    "vmladava.s8 r6, q0, q3\n\t" \
    "vmladava.s8 lr, q1, q3\n\t"
/* the last values of every pixel, less than sixteen */
#define TW_MVE_2X4_LAST(count) \
    "mov r11, #" #count "\n\t" \
    "vctp.8 r11\n\t" \
    "vpstt\n\t" \
    "vldrbt.s8 q0, [r1]\n\t" \
    "vldrbt.s8 q1, [r3]\n\t" \
    "vpst\n\t" \
    "vldrbt.s8 q2, [r5, #0*" #count "]\n\t" \
    "vmladava.s8 r0, q0, q2\n\t" \
    "vmladava.s8 r8, q1, q2\n\t" \
    "vpst\n\t" \
    "vldrbt.s8 q3, [r5, #1*" #count "]\n\t" \
    "vmladava.s8 r2, q0, q3\n\t" \
    "vmladava.s8 r10, q1, q3\n\t" \
    "vpst\n\t" \
    "vldrbt.s8 q2, [r5, #2*" #count "]\n\t" \
    "vmladava.s8 r4, q0, q2\n\t" \
    "vmladava.s8 r12, q1, q2\n\t" \
    "vpst\n\t" \
    "vldrbt.s8 q3, [r5, #3*" #count "]\n\t" \
    "vmladava.s8 r6, q0, q3\n\t" \
    "vmladava.s8 lr, q1, q3\n\t" \
    "add r5, #4*" #count "\n\t"
#endif

#ifdef TW_MVE_ARM
#define TW_MVE_2X4_END_M128_127 \
    "vldrw.u32 q2, [r9], #16\n\t" \
    "ldr r11, [sp, #32]\n\t" \
    "vmov q0[2], q0[0], r0, r4\n\t" \
    "vmov q0[3], q0[1], r2, r6\n\t" \
    "vmov q1[2], q1[0], r8, r12\n\t" \
    "vmov q1[3], q1[1], r10, lr\n\t" \
    "vcvt.f32.s32 q0, q0\n\t" \
    "vcvt.f32.s32 q1, q1\n\t" \
    "vmul.f32 q0, q0, q2\n\t" \
    "vmul.f32 q1, q1, q2\n\t" \
    "vcvtn.s32.f32 q0, q0\n\t" \
    "vcvtn.s32.f32 q1, q1\n\t" \
    "vqadd.s32 q0, q0, r11\n\t" \
    "vqadd.s32 q1, q1, r11\n\t" \
    "vqmovnb.s32 q0, q0\n\t" \
    "vqmovnb.s32 q1, q1\n\t" \
    "vqmovnb.s16 q0, q0\n\t" \
    "vqmovnb.s16 q1, q1\n\t" \
    "ldr r1, [sp, #20]\n\t" \
    "add r1, r7\n\t" \
    "vstrb.32 q1, [r1]\n\t" \
    "vstrb.32 q0, [r7], #4\n\t" \
    "ldr r11, [sp, #24]\n\t" \
    "subs r11, #1\n\t" \
    "str r11, [sp, #24]\n\t" \
    "bne 1b\n\t" \
    "add sp, #36\n\t" \
    "pop {r4-r11, pc}\n\t"
#endif

#ifndef TW_MVE_ARM
/* `count` values of every pixel in sixteens, with a `jump` behind each `run` of them, then `rest` more. */
TW_KERNEL void tw_mve_products(const tw_mve_block *b, int32_t pixels, int32_t channels, int32_t count, int32_t run,
        int32_t jump, int32_t rest, int32_t low, int32_t high)
{
    const int8_t *w = b->w;
    for (int32_t i = 0; i < b->blocks; ++i) {
        const int32_t *const p = b->parameters + (8 * i);
        const int8_t *const x[2] = {b->x, b->other};
        for (int32_t result = 0; result < (pixels * channels); ++result) {
            const int32_t j = result / channels;
            const int32_t c = result % channels;
            int32_t sum = p[c];
            float scale;
            for (int32_t k = 0; k < count; ++k) {
                sum += x[j][k + (k / run * jump)] * w[(((k / 16 * channels) + c) * 16) + (k % 16)];
            }
            for (int32_t k = 0; k < rest; ++k) {
                sum += x[j][count + k] * w[(count * channels) + (c * rest) + k];
            }
            memcpy(&scale, p + 4 + c, sizeof scale);
            b->y[(j * b->apart) + (4 * i) + c] = (uint8_t)tw_mve_requant(sum, scale, b->zero_point, low, high);
        }
        w += (count + rest) * channels;
    }
}
#endif

#ifdef TW_MVE_ARM
TW_ASSEMBLER void tw_mve_2x4_u3_t12_m128_127(const tw_mve_block *b __attribute__((unused)))
{
    __asm__ volatile(
        TW_MVE_2X4_BEGIN
        TW_MVE_2X4_LOOP(".rept 3\n\t" TW_MVE_2X4_SIXTEEN ".endr\n\t")
        TW_MVE_2X4_LAST(12)
        TW_MVE_2X4_END_M128_127 ::: "memory");
}
#else
static void tw_mve_2x4_u3_t12_m128_127(const tw_mve_block *b)
{
    tw_mve_products(b, 2, 4, b->steps * 48, 48, 0, 12, -128, 127);
}
#endif

#ifdef TW_MVE_ARM
#define TW_MVE_2X2_BEGIN \
    "push {r4-r11, lr}\n\t" \
    "ldmia r0, {r1-r9}\n\t" \
    "push {r1-r9}\n\t" \
    "mov r7, r5\n\t" \
    "mov r5, r3\n\t" \
    "mov r9, r4\n\t" \
    "1:\n\t" \
    "ldrd r1, r3, [sp]\n\t" \
    "ldrd r0, r2, [r9], #8\n\t" \
    "ldrd r4, r6, [r9], #8\n\t" \
    "mov r8, r0\n\t" \
    "mov r10, r2\n\t"
/* the inner loop: `sixteens` is what a trip computes */
#define TW_MVE_2X2_LOOP(sixteens) \
    "ldr r11, [sp, #28]\n\t" \
    "2:\n\t" \
    sixteens \
    "subs r11, #1\n\t" \
    "bne 2b\n\t"

/* sixteen values of every pixel */
#define TW_MVE_2X2_SIXTEEN \
    "vldrb.s8 q0, [r1], #16\n\t" \
    "vldrb.s8 q1, [r3], #16\n\t" \
    "vldrb.s8 q2, [r5], #16\n\t" \
    "vmladava.s8 r0, q0, q2\n\t" \
    "vmladava.s8 r8, q1, q2\n\t" \
    "vldrb.s8 q3, [r5], #16\n\t" \
    "vmladava.s8 r2, q0, q3\n\t" \
    "vmladava.s8 r10, q1, q3\n\t"
/* the last values of every pixel, less than sixteen */
#define TW_MVE_2X2_LAST(count) \
    "mov r11, #" #count "\n\t" \
    "vctp.8 r11\n\t" \
    "vpstt\n\t" \
    "vldrbt.s8 q0, [r1]\n\t" \
    "vldrbt.s8 q1, [r3]\n\t" \
    "vpst\n\t" \
    "vldrbt.s8 q2, [r5, #0*" #count "]\n\t" \
    "vmladava.s8 r0, q0, q2\n\t" \
    "vmladava.s8 r8, q1, q2\n\t" \
    "vpst\n\t" \
    "vldrbt.s8 q3, [r5, #1*" #count "]\n\t" \
    "vmladava.s8 r2, q0, q3\n\t" \
    "vmladava.s8 r10, q1, q3\n\t" \
    "add r5, #2*" #count "\n\t"
#endif

#ifdef TW_MVE_ARM
#define TW_MVE_2X2_END_M128_127 \
    "vldrw.u32 q2, [r9], #16\n\t" \
    "ldr r11, [sp, #32]\n\t" \
    "vmov q0[2], q0[0], r0, r4\n\t" \
    "vmov q0[3], q0[1], r2, r6\n\t" \
    "vmov q1[2], q1[0], r8, r12\n\t" \
    "vmov q1[3], q1[1], r10, lr\n\t" \
    "vcvt.f32.s32 q0, q0\n\t" \
    "vcvt.f32.s32 q1, q1\n\t" \
    "vmul.f32 q0, q0, q2\n\t" \
    "vmul.f32 q1, q1, q2\n\t" \
    "vcvtn.s32.f32 q0, q0\n\t" \
    "vcvtn.s32.f32 q1, q1\n\t" \
    "vqadd.s32 q0, q0, r11\n\t" \
    "vqadd.s32 q1, q1, r11\n\t" \
    "vqmovnb.s32 q0, q0\n\t" \
    "vqmovnb.s32 q1, q1\n\t" \
    "vqmovnb.s16 q0, q0\n\t" \
    "vqmovnb.s16 q1, q1\n\t" \
    "mov r11, #2\n\t" \
    "vctp.32 r11\n\t" \
    "ldr r1, [sp, #20]\n\t" \
    "add r1, r7\n\t" \
    "vpstt\n\t" \
    "vstrbt.32 q1, [r1]\n\t" \
    "vstrbt.32 q0, [r7], #4\n\t" \
    "ldr r11, [sp, #24]\n\t" \
    "subs r11, #1\n\t" \
    "str r11, [sp, #24]\n\t" \
    "bne 1b\n\t" \
    "add sp, #36\n\t" \
    "pop {r4-r11, pc}\n\t"
#endif

#ifdef TW_MVE_ARM
TW_ASSEMBLER void tw_mve_2x2_u3_t12_m128_127(const tw_mve_block *b __attribute__((unused)))
{
    __asm__ volatile(
        TW_MVE_2X2_BEGIN
        TW_MVE_2X2_LOOP(".rept 3\n\t" TW_MVE_2X2_SIXTEEN ".endr\n\t")
        TW_MVE_2X2_LAST(12)
        TW_MVE_2X2_END_M128_127 ::: "memory");
}
#else
static void tw_mve_2x2_u3_t12_m128_127(const tw_mve_block *b)
{
    tw_mve_products(b, 2, 2, b->steps * 48, 48, 0, 12, -128, 127);
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
    int32_t pad; /* value outside, as it is stored in a column */
    /* of a column, and bytes that it takes */
    int32_t length;
    int32_t room;
    int32_t steps;
    int32_t zero_point;
} tw_mve_conv;

/* Everything that one pixel of y reads, in one run. */
TW_KERNEL void tw_mve_column(const tw_mve_conv *p, const uint8_t *x, int32_t pixel, int32_t flip, int8_t *to)
{
    const int32_t i = pixel / p->out_width;
    const int32_t top = (i * p->row_stride) - p->top;
    const int32_t left = ((pixel - (i * p->out_width)) * p->column_stride) - p->left;
    const int32_t step = p->row_dilation * p->x_row;
    /* of the taps' row: its number, and bytes from x */
    int32_t line = top - p->row_dilation;
    int32_t row = (top * p->x_row) - step;
    for (int32_t k = 0; k < p->row_taps; ++k) {
        line += p->row_dilation;
        row += step;
        if ((line < 0) || (line >= p->height)) {
            to = tw_mve_fill(to, p->pad, p->column_runs * p->run_taps * p->channels);
            continue;
        }
        for (int32_t r = 0; r < p->column_runs; ++r) {
            const int32_t column = left + (r * p->column_dilation);
            const int32_t room = p->width - column;
            const int32_t first = (column >= 0) ? 0 : ((-column < p->run_taps) ? -column : p->run_taps);
            const int32_t last = (room >= p->run_taps) ? p->run_taps : ((room > first) ? room : first);
            if (first > 0) {
                to = tw_mve_fill(to, p->pad, first * p->channels);
            }
            to = tw_mve_copy(to, x + row + ((column + first) * p->x_step), (last - first) * p->channels,
                flip);
            if (last < p->run_taps) {
                to = tw_mve_fill(to, p->pad, (p->run_taps - last) * p->channels);
            }
        }
    }
}

/* Two pixels at a time; an odd last one with the one before it again. */
TW_KERNEL void tw_mve_products_2_flip0_u3_t12_m128_127_0_4_4_16_1_2(const tw_mve_conv p, const uint8_t *x,
        const int8_t *w, const int32_t *parameters, uint8_t *y, int8_t *columns)
{
    for (int32_t pixel = 0; pixel < p.pixels; pixel += 2) {
        const int32_t at = (pixel <= (p.pixels - 2)) ? pixel : (p.pixels - 2);
        const int8_t *const from[2] = {columns, columns + p.room};
        for (int32_t j = 0; j < 2; ++j) {
            tw_mve_column(&p, x, at + j, 0, columns + (j * p.room));
        }
        tw_mve_block b = {.x = from[0], .other = from[1], .apart = p.y_step, .steps = p.steps,
            .zero_point = p.zero_point};
        b.w = w;
        b.parameters = parameters;
        b.y = y + (at * p.y_step);
        b.blocks = 4;
        tw_mve_2x4_u3_t12_m128_127(&b);
        b.w = w + (16 * p.length);
        b.parameters = parameters + 32;
        b.y = y + (at * p.y_step) + 16;
        b.blocks = 1;
        tw_mve_2x2_u3_t12_m128_127(&b);
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
 *   kernel   cortex-m.mve.qconv
 *   X        i8[1,12,27,25] axes (0,2,3,1)  ram [12152, 20252)  qconv_same_0_in0:qconv_same_0:X
 *   W        i8[1944]                       flash [176, 2120)   qconv_same_0.W
 *   P        i32[40]                        flash [16, 176)     qconv_same_0.P
 *   Y        i8[1,18,27,25] axes (0,2,3,1)  ram [0, 12150)      qconv_same_0_out0:qconv_same_0:Y
 *   scratch  u8[224]                        ram [20256, 20480)
 */
TW_STEP void net_1_qconv(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + TRANSPOSE_0_OUT);
    const int8_t *const w = (const int8_t *)(flash + QCONV_1_W);
    const int32_t *const p = (const int32_t *)(flash + QCONV_1_P);
    int8_t *const y = (int8_t *)(ram + QCONV_1_OUT);
    uint8_t *const scratch = ram + QCONV_1_SCRATCH;
    tw_mve_products_2_flip0_u3_t12_m128_127_0_4_4_16_1_2((tw_mve_conv){
        .width = 25, .height = 27, .channels = 12, .x_step = 12, .x_row = 300, .out_width = 25, .pixels = 675,
        .outputs = 18, .y_step = 18, .y_row = 450, .row_taps = 3, .column_runs = 1, .run_taps = 3, .row_stride = 1,
        .column_stride = 1, .row_dilation = 1, .column_dilation = 1, .top = 1, .left = 1, .pad = -4, .length = 108,
        .room = 112, .steps = 2, .zero_point = -3,
    }, (const uint8_t *)x, w, p, (uint8_t *)y, (int8_t *)scratch);
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
