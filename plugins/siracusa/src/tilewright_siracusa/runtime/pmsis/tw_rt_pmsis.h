/* tw_rt_pmsis.h - networks of tilewright in an application of the PULP SDK.
 *
 * The application opens the cluster, takes the pools with pi_cl_l1_malloc and pi_l2_malloc, prepares a context with
 * NETWORK_init, and has the cluster run it:
 *
 *     static int infer(void) { return NETWORK_run(&context, &inputs, &outputs) == TW_OK ? 0 : 1; }
 *     status = tw_pmsis_run(&cluster, infer);
 *
 * A pool in the external RAM (l3) is named by a pointer that nobody reads: TW_PMSIS_RAM(address) for what pi_ram_alloc
 * gave, once tw_pmsis_set_ram has said which RAM it is.
 */
#ifndef TW_RT_PMSIS_H
#define TW_RT_PMSIS_H

#include <stdint.h>

#include "pmsis.h"

#ifndef TW_PMSIS_CORES
#  define TW_PMSIS_CORES 8
#endif
#ifndef TW_PMSIS_STACK_BYTES /* of each core of the cluster, in L1: what the network was compiled with as stack */
#  define TW_PMSIS_STACK_BYTES 1280
#endif
#define TW_PMSIS_L1_BASE 0x10000000u
#define TW_PMSIS_L1_BYTES 0x40000u
#define TW_PMSIS_RAM_BASE 0x60000000u
#define TW_PMSIS_RAM_BYTES 0x10000000u
#define TW_PMSIS_RAM(address) ((void *)(uintptr_t)(TW_PMSIS_RAM_BASE + (address)))

/* Every core of the cluster calls `work`. 0, or one of the statuses that were not 0, or the SDK's. */
int tw_pmsis_run(struct pi_device *cluster, int (*work)(void));

/* The external RAM, opened. */
void tw_pmsis_set_ram(struct pi_device *ram);

#endif
