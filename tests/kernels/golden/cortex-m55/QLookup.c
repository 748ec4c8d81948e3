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

/* y = t[x], t beginning with the entry of the lowest x. */
TW_KERNEL void tw_mve_lookup_128(const uint8_t *x, int32_t x_step, const uint8_t *t, uint8_t *y, int32_t y_step,
        int32_t count)
{
#ifdef TW_MVE_ARM
    (void)x_step;
    (void)y_step;
    __asm__ volatile(
        "vmov.i8 q1, #128\n\t"
        "wlstp.8 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.u8 q0, [%[x]], #16\n\t"
        "veor q0, q0, q1\n\t"
        "vldrb.u8 q2, [%[t], q0]\n\t"
        "vstrb.8 q2, [%[y]], #16\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&r"(x), [y] "+&r"(y) : [t] "r"(t), [count] "r"(count) : "lr", "q0", "q1", "q2", "cc", "memory");
#else
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = t[x[i * x_step] ^ 128];
    }
#endif
}

/* ---- steps ---- */

/* Step 0 of 1: QLookup
 *   nodes    qlookup_0
 *   kernel   cortex-m.mve.qlookup
 *   X        i8[8,29,31]  ram [0, 7192)      qlookup_0_in0
 *   T        i8[256]      flash [16, 272)    qlookup_0.T
 *   Y        i8[8,29,31]  ram [7192, 14384)  qlookup_0_out0
 */
TW_STEP void net_0_qlookup(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QLOOKUP_0_IN0);
    const int8_t *const t_2 = (const int8_t *)(flash + QLOOKUP_0_T);
    int8_t *const y = (int8_t *)(ram + QLOOKUP_0_OUT);
    tw_mve_lookup_128((const uint8_t *)x, 1, (const uint8_t *)t_2, (uint8_t *)y, 1, 7192);
}
