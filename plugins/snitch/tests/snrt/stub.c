/* The runtime's part on the host: cores are threads, bytes arrive when they are waited for, and transfers
 * out of TCDM before those to it. */
#include "stub.h"
#include "snrt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

typedef struct {
    uint8_t *to;
    const uint8_t *from;
    size_t size, to_stride, from_stride, rows;
    int done;
} transfer;

static transfer transfers[MOST];
static uint32_t started, over;
static pthread_barrier_t barrier;
static __thread uint32_t core;
static __thread int fenced;
static int (*job)(void);
uint32_t stub_copies, stub_most_in_flight;
uintptr_t stub_near;
size_t stub_near_bytes;

void stub_fail(const char *what)
{
    fprintf(stderr, "stub: %s\n", what);
    exit(2);
}

uint32_t snrt_cluster_core_idx(void)
{
    return core;
}

uint32_t snrt_cluster_compute_core_num(void)
{
    return CORES;
}

int snrt_is_dm_core(void)
{
    return core == CORES;
}

void snrt_fpu_fence(void)
{
    fenced = 1;
}

void snrt_cluster_hw_barrier(void)
{
    if (!fenced) {
        stub_fail("a barrier before the float unit has finished");
    }
    fenced = 0;
    pthread_barrier_wait(&barrier);
}

static snrt_dma_txid_t start(const transfer *one)
{
    if (!snrt_is_dm_core()) {
        stub_fail("a core that computes starts a copy");
    }
    if (one->size == 0 || one->rows == 0) {
        stub_fail("a copy of nothing never ends");
    }
    if (started >= MOST && !transfers[started % MOST].done) {
        stub_fail("too many copies in flight");
    }
    transfers[started % MOST] = *one;
    ++stub_copies;
    if (started + 1u - over > stub_most_in_flight) {
        stub_most_in_flight = started + 1u - over;
    }
    return started++;
}

snrt_dma_txid_t snrt_dma_start_1d(volatile void *dst, volatile void *src, size_t size)
{
    const transfer one = {(uint8_t *)(uintptr_t)dst, (const uint8_t *)(uintptr_t)src, size, 0, 0, 1, 0};
    return start(&one);
}

snrt_dma_txid_t snrt_dma_start_2d(volatile void *dst, volatile void *src, size_t size, size_t dst_stride, size_t src_stride,
                                  size_t repeat)
{
    const transfer one = {(uint8_t *)(uintptr_t)dst, (const uint8_t *)(uintptr_t)src, size, dst_stride, src_stride, repeat, 0};
    return start(&one);
}

int stub_is_far(const volatile void *address)
{
    const uintptr_t at = (uintptr_t)address;
    return at < stub_near || at - stub_near >= stub_near_bytes;
}

/* The oldest one out of TCDM, else the oldest. */
static transfer *next_over(void)
{
    transfer *oldest = NULL;
    for (uint32_t i = started > MOST ? started - MOST : 0u; i < started; ++i) {
        transfer *const one = &transfers[i % MOST];
        if (!one->done && stub_is_far(one->to)) {
            return one;
        }
        oldest = !one->done && !oldest ? one : oldest;
    }
    return oldest;
}

static void arrive(transfer *one)
{
    for (size_t row = 0; row < one->rows; ++row) {
        memcpy(one->to + row * one->to_stride, one->from + row * one->from_stride, one->size);
    }
    one->done = 1;
}

void snrt_dma_wait(snrt_dma_txid_t tid)
{
    if (tid >= started) {
        stub_fail("a wait for a copy that was never started");
    }
    for (; over <= tid; ++over) {
        arrive(next_over());
    }
}

static void *thread(void *number)
{
    core = (uint32_t)(uintptr_t)number;
    if (job() != 0) {
        stub_fail("the network fails");
    }
    return NULL;
}

void stub_run(int (*work)(void))
{
    pthread_t threads[CORES + 1];
    job = work;
    pthread_barrier_init(&barrier, NULL, CORES + 1);
    for (uintptr_t i = 0; i <= CORES; ++i) {
        pthread_create(&threads[i], NULL, thread, (void *)i);
    }
    for (uintptr_t i = 0; i <= CORES; ++i) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&barrier);
    if (over != started) {
        stub_fail("a copy was never waited for");
    }
}
