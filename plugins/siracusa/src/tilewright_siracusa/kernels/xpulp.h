#pragma once
#include "prelude.h"
#include <stdint.h>
#include <string.h>

/* Instructions of Xpulp (RI5CY's encodings) that kernels use, each beside portable C with the same result.
 * Define TW_XPULP for cores that have them; assemblers need not know them. */
#if defined(__GNUC__) /* what is rare does not take registers of what is not */
#  define TW_XP_APART static __attribute__((noinline, unused))
#else
#  define TW_XP_APART static
#endif
#if defined(TW_XPULP) && TW_XPULP && defined(__riscv)
#  define TW_XP_ASM 1
/* lp.setup: what follows, `count` instructions of four bytes, runs as often as operand [trips] says, once at least. */
#  define TW_XP_LOOP(count) \
    ".option push\n\t.option norvc\n\t.balign 4\n\t.insn i 0x7b, 4, x0, %[trips], 2 * (" #count ")\n\t"
#  define TW_XP_LOOP_END ".option pop"
/* Two of them, one inside the other: [inner] times the first `count` instructions, then `rest` more, two at least or
 * one and nothing around it; all of that [outer] times. */
#  define TW_XP_LOOPS(count, rest) \
    ".option push\n\t.option norvc\n\t.balign 4\n\t" \
    ".insn i 0x7b, 4, x1, %[outer], 2 * (1 + " #count " + " #rest ")\n\t" \
    ".insn i 0x7b, 4, x0, %[inner], 2 * (" #count ")\n\t"
/* p.lw: a word from rs1, which then moves by a number of bytes, or by what a register holds. */
#  define TW_XP_LW(rd, rs1, bytes) ".insn i 0x0b, 2, " #rd ", " #rs1 ", " #bytes "\n\t"
#  define TW_XP_LW_BY(rd, rs1, rs2) ".insn r 0x0b, 7, 0x10, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* p.lb, p.lbu, p.sb, p.sw: the same for bytes and for stores, moving by what a register holds. */
#  define TW_XP_LB_BY(rd, rs1, rs2) ".insn r 0x0b, 7, 0x00, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_LBU_BY(rd, rs1, rs2) ".insn r 0x0b, 7, 0x20, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SB_BY(rs2, rs1, rs3) ".insn r 0x2b, 4, 0x00, " #rs3 ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SW_BY(rs2, rs1, rs3) ".insn r 0x2b, 6, 0x00, " #rs3 ", " #rs1 ", " #rs2 "\n\t"
/* Four products of bytes of rs1 and rs2, added to rd: both signed, both unsigned, rs1 unsigned and rs2 signed. */
#  define TW_XP_SDOTSP(rd, rs1, rs2) ".insn r 0x57, 1, 0x5c, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SDOTUP(rd, rs1, rs2) ".insn r 0x57, 1, 0x50, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SDOTUSP(rd, rs1, rs2) ".insn r 0x57, 1, 0x54, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* p.mac, p.max, p.min */
#  define TW_XP_MAC(rd, rs1, rs2) ".insn r 0x33, 0, 0x21, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_MAX(rd, rs1, rs2) ".insn r 0x33, 6, 0x02, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_MIN(rd, rs1, rs2) ".insn r 0x33, 4, 0x02, " #rd ", " #rs1 ", " #rs2 "\n\t"

/* p.clip, p.clipu: between -128 and 127, between 0 and 255. */
#  define TW_XP_CLIP_I8(rd, rs1) ".insn r 0x33, 1, 0x0a, " #rd ", " #rs1 ", x8\n\t"
#  define TW_XP_CLIP_U8(rd, rs1) ".insn r 0x33, 2, 0x0a, " #rd ", " #rs1 ", x9\n\t"
/* pv.shuffle2.b, pv.pack.h, and what every core has. */
#  define TW_XP_MV(rd, rs1) "mv " #rd ", " #rs1 "\n\t"
#  define TW_XP_ADD(rd, rs1, rs2) "add " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_AND(rd, rs1, rs2) "and " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SRA(rd, rs1, rs2) "sra " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SLL(rd, rs1, rs2) "sll " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SHUFFLE2(rd, rs1, rs2) ".insn r 0x57, 1, 0x64, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* pv.packlo.b, pv.packhi.b: the lowest bytes of rs1 and rs2, rs2's below, into the lower or the upper half of rd;
 * pv.add.b: four sums of bytes; p.addNr: rd plus rs1, shifted to the right by rs2. */
#  define TW_XP_PACK_LOW(rd, rs1, rs2) ".insn r 0x57, 1, 0x70, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_PACK_HIGH(rd, rs1, rs2) ".insn r 0x57, 1, 0x6c, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_ADD_BYTES(rd, rs1, rs2) ".insn r 0x57, 1, 0x00, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_ADD_SRA(rd, rs1, rs2) ".insn r 0x5b, 2, 0x20, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_PACK(rd, rs1, rs2) ".insn r 0x57, 0, 0x68, " #rd ", " #rs1 ", " #rs2 "\n\t"

/* A word from any address: compilers take unaligned ones apart, this core reads them in one instruction. */
typedef struct __attribute__((may_alias)) {
    uint8_t bytes[4];
} tw_xp_four;

TW_KERNEL uint32_t tw_xp_load(const void *from)
{
    uint32_t word;
    __asm__("lw %0, %1" : "=r"(word) : "m"(*(const tw_xp_four *)from));
    return word;
}

TW_KERNEL void tw_xp_store(void *to, uint32_t word)
{
    __asm__("sw %1, %0" : "=m"(*(tw_xp_four *)to) : "r"(word));
}

/* A byte to where a pointer points, which then moves by a number of bytes. */
TW_KERNEL void tw_xp_store_by(uint8_t **to, uint8_t value, int32_t bytes)
{
    __asm__ volatile(TW_XP_SB_BY(%1, %0, %2) : "+r"(*to) : "r"(value), "r"(bytes) : "memory");
}

TW_KERNEL int32_t tw_xp_sdot_ss(int32_t sum, uint32_t a, uint32_t b)
{
    __asm__(TW_XP_SDOTSP(%[sum], %[a], %[b]) : [sum] "+r"(sum) : [a] "r"(a), [b] "r"(b));
    return sum;
}

TW_KERNEL int32_t tw_xp_sdot_uu(int32_t sum, uint32_t a, uint32_t b)
{
    __asm__(TW_XP_SDOTUP(%[sum], %[a], %[b]) : [sum] "+r"(sum) : [a] "r"(a), [b] "r"(b));
    return sum;
}

TW_KERNEL int32_t tw_xp_sdot_us(int32_t sum, uint32_t a, uint32_t b)
{
    __asm__(TW_XP_SDOTUSP(%[sum], %[a], %[b]) : [sum] "+r"(sum) : [a] "r"(a), [b] "r"(b));
    return sum;
}

/* pv.shuffle2.b: byte i is byte `choice[i] & 3` of b where bit 2 of choice[i] is set, else of a. */
TW_KERNEL uint32_t tw_xp_shuffle(uint32_t a, uint32_t b, uint32_t choice)
{
    __asm__(TW_XP_SHUFFLE2(%0, %1, %2) : "+r"(a) : "r"(b), "r"(choice));
    return a;
}

/* pv.pack.h: the lower half of `low`, below the lower half of `high`. */
TW_KERNEL uint32_t tw_xp_pack(uint32_t low, uint32_t high)
{
    uint32_t word;
    __asm__(TW_XP_PACK(%0, %1, %2) : "=r"(word) : "r"(high), "r"(low));
    return word;
}

/* pv.max.b, pv.maxu.b: the larger of each pair of bytes. */
TW_KERNEL uint32_t tw_xp_max_i8(uint32_t a, uint32_t b)
{
    uint32_t word;
    __asm__(".insn r 0x57, 1, 0x18, %0, %1, %2" : "=r"(word) : "r"(a), "r"(b));
    return word;
}

TW_KERNEL uint32_t tw_xp_max_u8(uint32_t a, uint32_t b)
{
    uint32_t word;
    __asm__(".insn r 0x57, 1, 0x1c, %0, %1, %2" : "=r"(word) : "r"(a), "r"(b));
    return word;
}

TW_KERNEL int32_t tw_xp_clip_i8(int32_t value)
{
    int32_t clipped;
    __asm__(TW_XP_CLIP_I8(%0, %1) : "=r"(clipped) : "r"(value));
    return clipped;
}

TW_KERNEL int32_t tw_xp_clip_u8(int32_t value)
{
    int32_t clipped;
    __asm__(TW_XP_CLIP_U8(%0, %1) : "=r"(clipped) : "r"(value));
    return clipped;
}

TW_KERNEL int32_t tw_xp_limited(int32_t value, int32_t low, int32_t high)
{
    __asm__(TW_XP_MAX(%[value], %[value], %[low]) TW_XP_MIN(%[value], %[value], %[high])
            : [value] "+&r"(value) : [low] "r"(low), [high] "r"(high));
    return value;
}
#else
TW_KERNEL uint32_t tw_xp_load(const void *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

TW_KERNEL void tw_xp_store(void *to, uint32_t word)
{
    memcpy(to, &word, sizeof word);
}

TW_KERNEL void tw_xp_store_by(uint8_t **to, uint8_t value, int32_t bytes)
{
    **to = value;
    *to += bytes;
}

TW_KERNEL int32_t tw_xp_signed(uint32_t word, int32_t at)
{
    const int32_t byte = (int32_t)((word >> (8 * at)) & 255);
    return (byte < 128) ? byte : (byte - 256);
}

TW_KERNEL int32_t tw_xp_unsigned(uint32_t word, int32_t at)
{
    return (int32_t)((word >> (8 * at)) & 255);
}

TW_KERNEL int32_t tw_xp_wrapped(int32_t sum, int32_t more)
{
    return (int32_t)((uint32_t)sum + (uint32_t)more);
}

TW_KERNEL int32_t tw_xp_sdot_ss(int32_t sum, uint32_t a, uint32_t b)
{
    for (int32_t i = 0; i < 4; ++i) {
        sum = tw_xp_wrapped(sum, tw_xp_signed(a, i) * tw_xp_signed(b, i));
    }
    return sum;
}

TW_KERNEL int32_t tw_xp_sdot_uu(int32_t sum, uint32_t a, uint32_t b)
{
    for (int32_t i = 0; i < 4; ++i) {
        sum = tw_xp_wrapped(sum, tw_xp_unsigned(a, i) * tw_xp_unsigned(b, i));
    }
    return sum;
}

TW_KERNEL int32_t tw_xp_sdot_us(int32_t sum, uint32_t a, uint32_t b)
{
    for (int32_t i = 0; i < 4; ++i) {
        sum = tw_xp_wrapped(sum, tw_xp_unsigned(a, i) * tw_xp_signed(b, i));
    }
    return sum;
}

TW_KERNEL uint32_t tw_xp_shuffle(uint32_t a, uint32_t b, uint32_t choice)
{
    uint32_t word = 0;
    for (int32_t i = 0; i < 4; ++i) {
        const uint32_t which = choice >> (8 * i);
        word |= ((((which & 4) ? b : a) >> (8 * (which & 3))) & 255) << (8 * i);
    }
    return word;
}

TW_KERNEL uint32_t tw_xp_pack(uint32_t low, uint32_t high)
{
    return (low & 65535) | (high << 16);
}

TW_KERNEL uint32_t tw_xp_max_i8(uint32_t a, uint32_t b)
{
    uint32_t word = 0;
    for (int32_t i = 0; i < 4; ++i) {
        word |= ((tw_xp_signed(a, i) > tw_xp_signed(b, i)) ? a : b) & (UINT32_C(255) << (8 * i));
    }
    return word;
}

TW_KERNEL uint32_t tw_xp_max_u8(uint32_t a, uint32_t b)
{
    uint32_t word = 0;
    for (int32_t i = 0; i < 4; ++i) {
        word |= ((tw_xp_unsigned(a, i) > tw_xp_unsigned(b, i)) ? a : b) & (UINT32_C(255) << (8 * i));
    }
    return word;
}

TW_KERNEL int32_t tw_xp_limited(int32_t value, int32_t low, int32_t high)
{
    return (value < low) ? low : ((value > high) ? high : value);
}

TW_KERNEL int32_t tw_xp_clip_i8(int32_t value)
{
    return tw_xp_limited(value, -128, 127);
}

TW_KERNEL int32_t tw_xp_clip_u8(int32_t value)
{
    return tw_xp_limited(value, 0, 255);
}
#endif

/* The limits of a result. */
typedef struct {
    int32_t low;
    int32_t high;
    int32_t zero_point;
} tw_xp_limits;

/* clamp(rne(value), low, high), the limits below 2^22. */
#if defined(TW_XP_ASM) && defined(__riscv_flen)
TW_KERNEL int32_t tw_xp_nearest(float value)
{
    int32_t whole;
    __asm__("fcvt.w.s %0, %1, rne" : "=r"(whole) : "f"(value));
    return whole;
}

TW_KERNEL int32_t tw_xp_rounded(float value, int32_t low, int32_t high)
{
    return tw_xp_limited(tw_xp_nearest(value), low, high);
}
#else
/* Adding 3 * 2^22 leaves no bit for a fraction, so that the addition rounds; the integer is in the low bits. */
TW_KERNEL int32_t tw_xp_rounded(float value, int32_t low, int32_t high)
{
    const float least = (float)low;
    const float most = (float)high;
    const float inside = (value < least) ? least : ((value > most) ? most : value);
    const union { float value; int32_t bits; } sum = {.value = inside + 12582912.0f};
    return sum.bits - INT32_C(0x4b400000);
}

/* rne(value) where that is small; what is larger stays larger than any result. */
TW_KERNEL int32_t tw_xp_nearest(float value)
{
    return tw_xp_rounded(value, -1024, 1024);
}
#endif

/* A float32 that is stored among integers. */
TW_KERNEL float tw_xp_scale(const int32_t *bits)
{
    float scale;
#if defined(TW_XP_ASM) && defined(__riscv_flen)
    __asm__("flw %0, %1" : "=f"(scale) : "m"(*bits));
#else
    memcpy(&scale, bits, sizeof scale);
#endif
    return scale;
}

/* The first `lanes` bytes of a word. */
TW_KERNEL uint32_t tw_xp_load_lanes(const uint8_t *from, int32_t lanes)
{
    if (lanes >= 4) {
        return tw_xp_load(from);
    }
    uint32_t word = 0;
    for (int32_t i = 0; i < lanes; ++i) {
        word |= (uint32_t)from[i] << (8 * i);
    }
    return word;
}

TW_KERNEL void tw_xp_store_lanes(uint8_t *to, uint32_t word, int32_t lanes)
{
    if (lanes >= 4) {
        tw_xp_store(to, word);
        return;
    }
    for (int32_t i = 0; i < lanes; ++i) {
        to[i] = (uint8_t)(word >> (8 * i));
    }
}

/* Copies a few bytes, or fills them with one value. */
TW_KERNEL void tw_xp_copy(uint8_t *to, const uint8_t *from, int32_t bytes)
{
    for (; bytes >= 4; bytes -= 4) {
        tw_xp_store(to, tw_xp_load(from));
        to += 4;
        from += 4;
    }
    for (; bytes > 0; --bytes) {
        *to++ = *from++;
    }
}

TW_KERNEL void tw_xp_fill(uint8_t *to, uint8_t value, int32_t bytes)
{
    for (; bytes > 0; --bytes) {
        *to++ = value;
    }
}
