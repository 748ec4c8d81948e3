/* machine.h - Snitch: the cluster's harts, and their clock. `main` runs on the hart that moves data. */
#ifndef TW_MACHINE_H
#define TW_MACHINE_H

#define TW_ABOVE_STACK 32 /* bytes above the stack of the core that moves data: zeros in the beginning */

#ifndef __ASSEMBLER__
#include <stdint.h>

enum { TW_COMPUTING_HARTS = 8, TW_MOVING_HART = 8 };
#define TW_FAR_BASE UINT32_C(0x80000000) /* of the main memory; TCDM is below */

/* Every core reaches every memory. */
static inline int tw_is_far(const void *address)
{
    (void)address;
    return 0;
}

/* Cycles since reset; they go on while a core sleeps. */
static inline uint32_t tw_cycles(void)
{
    uint32_t cycles;
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrr %0, mcycle\n\t.option pop" : "=r"(cycles)::"memory");
    return cycles;
}

#endif
#endif
