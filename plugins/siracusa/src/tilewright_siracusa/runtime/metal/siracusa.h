/* siracusa.h - what a program finds on the bare machine: the cluster, its cycle counters, a host to talk to.
 *
 * `main` runs on the controller, the core outside the cluster, which has no FPU. `tw_cluster_run` has every core of the
 * cluster call a function; inside it, tw_rt.h is all there is. TW_CORES and TW_STACK_BYTES come from the command line.
 */
#ifndef TW_SIRACUSA_H
#define TW_SIRACUSA_H

#include <stddef.h>
#include <stdint.h>

#define TW_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#define TW_L1_BASE 0x10000000u
#define TW_L1_BYTES 0x40000u
#define TW_L3_BASE 0x60000000u /* no core can read there: copies take it for byte 0 of the external RAM */
#define TW_L3_BYTES 0x800000u

/* ---- on the controller ---- */

/* Every core of the cluster calls `entry`. Returns when all have returned: 0, or one of the statuses that were not 0.
 * TW_STACK_OVERFLOW when a core's stack was too small, TW_SHARED_REGISTERS when nothing ran: floats lie in the registers
 * of integers, as on no Siracusa, and the program was not compiled for that. */
int tw_cluster_run(int (*entry)(void));
enum { TW_STACK_OVERFLOW = 139, TW_SHARED_REGISTERS = 140 };

/* The most that any core's stack has held so far. */
uint32_t tw_stack_bytes(void);

/* Through the debugger or simulator (RISC-V semihosting). */
void tw_say(const char *text);
void tw_say_number(uint32_t number);
void tw_say_bytes(const void *bytes, size_t size); /* in hexadecimal */
void tw_exit(int status) __attribute__((noreturn));

/* ---- on a core of the cluster ---- */

/* Cycles of this core since the team was started. */
static inline uint32_t tw_cycles(void)
{
    uint32_t cycles;
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrr %0, 0x780\n\t.option pop" : "=r"(cycles));
    return cycles;
}

#endif
