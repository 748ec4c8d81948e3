#pragma once
#include "prelude.h"
#include <stdint.h>

/* Snitch's stream registers and hardware repetition. Define TW_SNITCH for cores that have them; assemblers need not
 * know them. While streams are on, ft0, ft1 and ft2 are theirs: no C that computes with floats stands there. */
#if defined(__GNUC__) /* what is large stands once */
#  define TW_SN_APART static __attribute__((noinline, unused))
#else
#  define TW_SN_APART static
#endif
#if defined(TW_SNITCH) && TW_SNITCH && defined(__riscv)
#  define TW_SN_STREAMS 1
/* scfgwi: a register of a stream. Repetition is register 1; bounds begin at 2, strides at 6, both for four dimensions;
 * a pointer for the first 1 to 4 dimensions, written last, begins at 24 to read, at 28 to write. */
#  define TW_SN_SET(stream, index, value) \
    __asm__ volatile(".insn i 0x2b, 2, x0, %0, %1" ::"r"(value), "i"((stream) | (index) << 5) : "memory")
/* frep.o: the `count` instructions that follow, once more than the register says. */
#  define TW_SN_REPEAT(times, count) ".insn i 0x0b, 0, x1, " times ", " #count " - 1\n\t"
/* Packed float32: vfadd.s, vfsub.s, vfmul.s, vfmac.s, vfmac.r.s (rs2: the lower half twice), vfmin.s, vfmax.s. */
#  define TW_SN_VFADD(rd, rs1, rs2) ".insn r 0x33, 0, 0x41, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFSUB(rd, rs1, rs2) ".insn r 0x33, 0, 0x42, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMUL(rd, rs1, rs2) ".insn r 0x33, 0, 0x43, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAC(rd, rs1, rs2) ".insn r 0x33, 0, 0x48, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAC_R(rd, rs1, rs2) ".insn r 0x33, 4, 0x48, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMIN(rd, rs1, rs2) ".insn r 0x33, 0, 0x45, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAX(rd, rs1, rs2) ".insn r 0x33, 0, 0x46, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* The same of four floats of 16 bits. */
#  define TW_SN_VFADD_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x41, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFSUB_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x42, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMUL_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x43, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAC_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x48, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMIN_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x45, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAX_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x46, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* Floats of 16 bits: flh, fsh, fcvt.s.h and fcvt.h.s (to the nearest), of registers that are C strings. */
#  define TW_SN_FLH(rd, place) ".insn i 0x07, 1, " rd ", " place "\n\t"
#  define TW_SN_FSH(rs, place) ".insn s 0x27, 1, " rs ", " place "\n\t"
#  define TW_SN_WIDE(rd) ".insn r 0x53, 0, 0x20, " rd ", " rd ", x2\n\t"
#  define TW_SN_NARROW(rd) ".insn r 0x53, 0, 0x22, " rd ", " rd ", x0\n\t"

/* Streams are read from TCDM only, eight bytes at a time. */
TW_KERNEL int tw_sn_near(const void *pointer)
{
    const uint32_t address = (uint32_t)(uintptr_t)pointer;
    return ((address - 0x10000000u) < 0x20000u) && ((address % 8u) == 0u);
}

/* Twice the same float32, in the two halves of a register (vfcpka.s.s). */
TW_KERNEL double tw_sn_pair(float value)
{
    double both;
    __asm__ volatile(".insn r 0x33, 0, 0x58, %0, %1, %1" : "=f"(both) : "f"(value));
    return both;
}

/* The two halves of a register. They go through memory: only loads and stores take it apart. */
TW_KERNEL float tw_sn_apart(double both, float *upper)
{
    double room;
    float low;
    float high;
    __asm__ volatile("fsd %2, 0(%3)\n\tflw %0, 0(%3)\n\tflw %1, 4(%3)"
                     : "=&f"(low), "=&f"(high)
                     : "f"(both), "r"(&room)
                     : "memory");
    *upper = high;
    return low;
}

/* The sum of two halves. */
TW_KERNEL float tw_sn_halves(double both)
{
    float upper;
    const float lower = tw_sn_apart(both, &upper);
    return lower + upper;
}

/* Four times the same value, rounded to 16 bits. Only the float unit writes and reads it, by its own path to memory. */
TW_KERNEL double tw_sn_four(float value)
{
    double all;
    double room;
    __asm__ volatile(TW_SN_NARROW("%1") TW_SN_FSH("%1", "0(%2)") TW_SN_FSH("%1", "2(%2)") TW_SN_FSH("%1", "4(%2)")
                     TW_SN_FSH("%1", "6(%2)") "fld %0, 0(%2)"
                     : "=f"(all), "+&f"(value)
                     : "r"(&room)
                     : "memory");
    return all;
}

/* The sum of four floats of 16 bits. */
TW_KERNEL float tw_sn_quarters(double all)
{
    double room;
    float one;
    float two;
    float three;
    float four;
    __asm__ volatile("fsd %4, 0(%5)\n\t" TW_SN_FLH("%0", "0(%5)") TW_SN_FLH("%1", "2(%5)") TW_SN_FLH("%2", "4(%5)")
                     TW_SN_FLH("%3", "6(%5)") TW_SN_WIDE("%0") TW_SN_WIDE("%1") TW_SN_WIDE("%2") TW_SN_WIDE("%3")
                     : "=&f"(one), "=&f"(two), "=&f"(three), "=&f"(four)
                     : "f"(all), "r"(&room)
                     : "memory");
    return (one + two) + (three + four);
}

/* Until the float unit has done all that it was given. */
TW_KERNEL void tw_sn_settle(void)
{
    uint32_t last;
    __asm__ volatile("fmv.x.w %0, fa0\n\tmv %0, %0" : "=r"(last)::"memory");
    (void)last;
}

/* An element of a stream: bounds (elements less one) and strides (bytes) from inside out. The machine adds what leads
 * from the last element inside to the next one outside. */
typedef struct {
    uint32_t bound[4];
    int32_t stride[4];
} tw_sn_walk;

TW_KERNEL void tw_sn_on(void)
{
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrsi 0x7C0, 1\n\t.option pop" ::: "memory");
}

TW_KERNEL void tw_sn_off(void)
{
    tw_sn_settle();
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrci 0x7C0, 1\n\t.option pop" ::: "memory");
}

/* Until a stream that writes has written everything (scfgri: a stream's status, negative when it has). What has not
 * left for memory when streams are switched off is lost. */
TW_KERNEL void tw_sn_written(void)
{
    int32_t status;
    do {
        __asm__ volatile(".insn i 0x2b, 1, %0, x0, 2" : "=r"(status)::"memory");
    } while (status >= 0);
}

/* All four dimensions of a stream; each element is given `repeat` times more. They stay from start to start. What leads
 * to the next dimension is summed up in registers: a walk that is read in a loop would be on the stack. */
#  define TW_SN_WALK(stream, walk, repeat) \
    do { \
        const int32_t walked_0 = (int32_t)(walk).bound[0] * (walk).stride[0]; \
        const int32_t walked_1 = walked_0 + ((int32_t)(walk).bound[1] * (walk).stride[1]); \
        const int32_t walked_2 = walked_1 + ((int32_t)(walk).bound[2] * (walk).stride[2]); \
        TW_SN_SET(stream, 1, repeat); \
        TW_SN_SET(stream, 2, (walk).bound[0]); \
        TW_SN_SET(stream, 3, (walk).bound[1]); \
        TW_SN_SET(stream, 4, (walk).bound[2]); \
        TW_SN_SET(stream, 5, (walk).bound[3]); \
        TW_SN_SET(stream, 6, (walk).stride[0]); \
        TW_SN_SET(stream, 7, (walk).stride[1] - walked_0); \
        TW_SN_SET(stream, 8, (walk).stride[2] - walked_1); \
        TW_SN_SET(stream, 9, (walk).stride[3] - walked_2); \
    } while (0)
/* Neighbours: `last` + 1 elements of one dimension, whose pointers are 24 to read and 28 to write. */
#  define TW_SN_RUN(stream, repeat, last) \
    do { \
        TW_SN_SET(stream, 1, repeat); \
        TW_SN_SET(stream, 2, last); \
        TW_SN_SET(stream, 6, 8); \
    } while (0)
#  define TW_SN_READ(stream, pointer) TW_SN_SET(stream, 27, pointer)
#  define TW_SN_WRITE(stream, pointer) TW_SN_SET(stream, 31, pointer)
#endif
