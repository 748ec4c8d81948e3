/* tw_rt_snrt.h - networks of tilewright in a program of the Snitch cluster's runtime (snRuntime).
 *
 * The program takes the pools with snrt_l1_alloc and snrt_l3_alloc, prepares a context with NETWORK_init on one core, and
 * has every core, the one that moves data too, call the network after a barrier:
 *
 *     snrt_cluster_hw_barrier();
 *     status = NETWORK_run(&context, &inputs, &outputs);
 *
 * The network is compiled for as many cores as compute (--set cores=...). tw_rt_snrt.c is C and C++: with a runtime that
 * has default arguments, compile it as the runtime is compiled.
 */
#ifndef TW_RT_SNRT_H
#define TW_RT_SNRT_H

#include "snrt.h"
#include "tw_rt.h"

#ifndef TW_SNRT_IS_FAR /* of an address: in the main memory; TCDM is below */
#  define TW_SNRT_IS_FAR(address) ((uintptr_t)(address) >= 0x80000000u)
#endif

#if TW_RT_API_LEVEL != 1
#  error "this runtime knows API level 1 of tw_rt.h"
#endif

#endif
