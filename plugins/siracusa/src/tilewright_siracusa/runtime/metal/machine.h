/* machine.h - Siracusa: its memories, and the clock of its cluster.
 *
 * `main` runs on the controller, the core outside the cluster, which has no FPU.
 */
#ifndef TW_MACHINE_H
#define TW_MACHINE_H

#include <stdint.h>

#define TW_L1_BASE 0x10000000u
#define TW_L1_BYTES 0x40000u
#define TW_L3_BASE 0x60000000u /* no core can read there: copies take it for byte 0 of the external RAM */
#define TW_L3_BYTES 0x800000u

enum { TW_SHARED_REGISTERS = 140 }; /* of tw_cluster_run: floats lie in the registers of integers; nothing ran */

static inline int tw_is_far(const void *address)
{
    return (uint32_t)(uintptr_t)address - TW_L3_BASE < TW_L3_BYTES;
}

/* Cycles since the team was started, by the cluster's timer: a core's own counter stops while it sleeps in a barrier. */
static inline uint32_t tw_cycles(void)
{
    return TW_REGISTER(0x10200408u);
}

#endif
