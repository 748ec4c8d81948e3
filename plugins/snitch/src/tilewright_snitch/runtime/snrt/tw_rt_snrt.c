/* tw_rt over the Snitch cluster's runtime: cores, its barrier, its copies. */
#include "tw_rt_snrt.h"

/* Those that compute come first; the one that moves data is the last. */
uint32_t tw_rt_core(void)
{
    return snrt_cluster_core_idx();
}

uint32_t tw_rt_cores(void)
{
    return snrt_cluster_compute_core_num();
}

int tw_rt_is_dma_core(void)
{
    return snrt_is_dm_core();
}

/* The runtime's barrier does not wait for the float unit, whose stores have a path of their own. */
void tw_rt_barrier(void)
{
    snrt_fpu_fence();
    snrt_cluster_hw_barrier();
}

/* Transfers of the runtime are numbered in the order in which they were started. Those out of TCDM are over in that order,
 * and so are those to it, but some out of TCDM may overtake others to it, as GVSoC models it: that a number is over says how
 * many are. So many are over of one way as are over of all, less those that were started of the other. */
static struct {
    uint32_t others; /* transfers of the program's own, between calls of networks */
    uint32_t started[2];
} known;

static uint32_t begun(snrt_dma_txid_t number, uint32_t way)
{
    known.others = (uint32_t)number - (known.started[0] + known.started[1]);
    return ++known.started[way] << 1 | way;
}

/* The number of a transfer is that among those of its way, and the way in bit 0. 0 is none: one of nothing would never end. */
uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    void *const source = (void *)(uintptr_t)src;
    const uint32_t way = !TW_SNRT_IS_FAR(dst);
    if (bytes == 0u || rows == 0u) {
        return 0u;
    }
    if (rows == 1u || (dst_stride == bytes && src_stride == bytes)) {
        return begun(snrt_dma_start_1d(dst, source, (size_t)bytes * rows), way);
    }
    return begun(snrt_dma_start_2d(dst, source, bytes, dst_stride, src_stride, rows), way);
}

void tw_rt_wait(uint32_t transfer)
{
    if (transfer) {
        snrt_dma_wait((snrt_dma_txid_t)(known.others + known.started[1u - (transfer & 1u)] + (transfer >> 1) - 1u));
    }
}

void tw_rt_live(void *bytes, uint32_t size)
{
    (void)bytes;
    (void)size;
}

void tw_rt_dead(void *bytes, uint32_t size)
{
    (void)bytes;
    (void)size;
}

void tw_rt_charge(uint32_t cycles)
{
    (void)cycles;
}
