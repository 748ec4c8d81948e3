/* What tw_rt_snrt.c uses of the Snitch cluster's runtime, as its headers declare it, default arguments left out. */
#ifndef SNRT_H
#define SNRT_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t snrt_dma_txid_t;

uint32_t snrt_cluster_core_idx(void);
uint32_t snrt_cluster_compute_core_num(void);
int snrt_is_dm_core(void);
void snrt_cluster_hw_barrier(void);
void snrt_fpu_fence(void);
snrt_dma_txid_t snrt_dma_start_1d(volatile void *dst, volatile void *src, size_t size);
snrt_dma_txid_t snrt_dma_start_2d(volatile void *dst, volatile void *src, size_t size, size_t dst_stride, size_t src_stride,
                                  size_t repeat);
void snrt_dma_wait(snrt_dma_txid_t tid);
int stub_is_far(const volatile void *address);

#endif
