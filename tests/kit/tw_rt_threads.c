/* A backend of tw_rt for unit tests: one thread for each core, copies delivered when they are waited for.
 *
 * TW_TEST_CORES cores; core 0 moves data, or with TW_TEST_DMA_CORE a further one that does not compute. A copy that nobody
 * waits for never arrives, and a number that was not handed out stops the program.
 */
#define _POSIX_C_SOURCE 200809L
#include "tw_rt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TW_TEST_CORES
#  define TW_TEST_CORES 1
#endif
#ifdef TW_TEST_DMA_CORE
#  define TEAM (TW_TEST_CORES + 1)
#else
#  define TEAM TW_TEST_CORES
#endif
#define CHANNELS 32 /* sixteen for each of two hops */
#define MAX_TILES 64

int tw_test_team(int (*work)(void *), void *argument);

typedef struct {
    uint8_t *dst;
    const uint8_t *src;
    uint32_t bytes, rows, dst_stride, src_stride;
    int busy;
} copy;

static _Thread_local uint32_t core;
static pthread_barrier_t gate;
static copy copies[CHANNELS];

uint32_t tw_rt_core(void)
{
    return core;
}

uint32_t tw_rt_cores(void)
{
    return TW_TEST_CORES;
}

int tw_rt_is_dma_core(void)
{
    return core == (TEAM == TW_TEST_CORES ? 0u : TW_TEST_CORES);
}

void tw_rt_barrier(void)
{
    pthread_barrier_wait(&gate);
}

static void demand(int truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "tw_rt: %s\n", what);
        abort();
    }
}

uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    uint32_t number = 0;
    demand(tw_rt_is_dma_core(), "a copy is started by a core that is not the DMA core");
    demand(bytes > 0 && rows > 0, "an empty copy is started");
    demand((uint64_t)bytes * rows < (UINT64_C(1) << 17), "a copy is too long");
    while (number < CHANNELS && copies[number].busy) {
        ++number;
    }
    demand(number < CHANNELS, "too many copies are in flight");
    const copy started = {dst, src, bytes, rows, dst_stride, src_stride, 1};
    copies[number] = started;
    return number;
}

void tw_rt_wait(uint32_t number)
{
    demand(tw_rt_is_dma_core(), "a core that is not the DMA core waits for a copy");
    demand(number < CHANNELS && copies[number].busy, "a copy is waited for that was not started");
    const copy *const one = &copies[number];
    for (uint32_t row = 0; row < one->rows; ++row) {
        memcpy(one->dst + (size_t)row * one->dst_stride, one->src + (size_t)row * one->src_stride, one->bytes);
    }
    copies[number].busy = 0;
}

static struct {
    uint8_t *bytes;
    uint32_t size;
} tiles[MAX_TILES];

/* The entry of a tile, or an empty one for `bytes` NULL. */
static uint32_t find(const uint8_t *bytes)
{
    uint32_t number = 0;
    while (number < MAX_TILES && tiles[number].bytes != bytes) {
        ++number;
    }
    demand(number < MAX_TILES, bytes ? "a tile dies that does not live" : "too many tiles live");
    return number;
}

void tw_rt_live(void *bytes, uint32_t size)
{
    uint8_t *const begin = bytes;
    for (uint32_t i = 0; i < MAX_TILES; ++i) {
        const int apart = !tiles[i].bytes || begin + size <= tiles[i].bytes || tiles[i].bytes + tiles[i].size <= begin;
        demand(apart, "a tile begins to live where another one does");
    }
    demand(tw_rt_is_dma_core(), "a core that is not the DMA core declares a tile");
    const uint32_t number = find(NULL);
    tiles[number].bytes = begin;
    tiles[number].size = size;
    memset(bytes, 0x5a, size); /* whatever was there is gone */
}

void tw_rt_dead(void *bytes, uint32_t size)
{
    const uint32_t number = find(bytes);
    demand(tiles[number].size == size, "a part of a tile dies");
    tiles[number].bytes = NULL;
    memset(bytes, 0xa5, size);
}

void tw_rt_charge(uint32_t cycles)
{
    (void)cycles;
}

typedef struct {
    int (*work)(void *);
    void *argument;
    uint32_t core;
    int status;
} job;

static void *start(void *given)
{
    job *const mine = given;
    core = mine->core;
    mine->status = mine->work(mine->argument);
    return NULL;
}

/* Runs `work` on every core of the team; the first status that is not 0, or -99 where cores disagree. */
int tw_test_team(int (*work)(void *), void *argument)
{
    pthread_t threads[TEAM];
    job jobs[TEAM];
    pthread_barrier_init(&gate, NULL, TEAM);
    for (uint32_t i = 0; i < TEAM; ++i) {
        const job one = {work, argument, i, 0};
        jobs[i] = one;
        pthread_create(&threads[i], NULL, start, &jobs[i]);
    }
    for (uint32_t i = 0; i < TEAM; ++i) {
        pthread_join(threads[i], NULL);
    }
    for (uint32_t i = 0; i < CHANNELS; ++i) {
        demand(!copies[i].busy, "a copy was never waited for");
    }
    for (uint32_t i = 0; i < MAX_TILES; ++i) {
        demand(!tiles[i].bytes, "a tile lives after the last step");
    }
    for (uint32_t i = 1; i < TEAM; ++i) {
        if (jobs[i].status != jobs[0].status) {
            return -99;
        }
    }
    return jobs[0].status;
}
