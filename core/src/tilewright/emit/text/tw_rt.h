/* tw_rt.h - what a generated program for several cores and memories asks of its runtime. API level 1.
 *
 * Every core of the team runs the network's function. One core, the DMA core, starts and waits for copies.
 * Declared here, defined by a backend: the host twin, QEMU, bare metal, or a vendor's SDK.
 */
#ifndef TW_RT_H
#define TW_RT_H

#include <stddef.h>
#include <stdint.h>

#define TW_RT_API_LEVEL 1

#ifdef __cplusplus
extern "C" {
#endif

/* This core's number among those that compute, 0 .. tw_rt_cores() - 1. A DMA core that does not compute has
 * tw_rt_cores(). */
uint32_t tw_rt_core(void);
uint32_t tw_rt_cores(void);

/* Whether this core moves data. Exactly one does. */
int tw_rt_is_dma_core(void);

/* Returns on every core of the team (DMA cores included) after the last one has called it. */
void tw_rt_barrier(void);

/* Starts a transfer of `rows` rows of `bytes` bytes; strides are bytes from row to row. DMA core only.
 * The source may not change and the destination may not be touched before tw_rt_wait(the number returned).
 * NAME_init calls it, too, where constants are copied to a memory that the first engine cannot fill. */
uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows,
        uint32_t dst_stride, uint32_t src_stride);

/* Waits for one transfer, and frees its number. DMA core only. */
void tw_rt_wait(uint32_t transfer);

/* From here on bytes mean something (live), or nobody reads them before they are written again (dead).
 * May do nothing. */
void tw_rt_live(void *bytes, uint32_t size);
void tw_rt_dead(void *bytes, uint32_t size);

/* Adds a kernel's estimated cycles to this core's virtual clock. May do nothing. */
void tw_rt_charge(uint32_t cycles);

/* Engines that run beside the cores. A kernel's own C starts its engine and waits for it; what follows tells a runtime
 * that watches (TW_RT_ENGINES), and is nothing where none does. `engine` counts the engines of the target.
 *
 * A window is what a job reads or writes (`written`) of an operand: elements of `item` bytes along up to six axes. */
typedef struct {
    const uint8_t *bytes;
    uint32_t item;
    int32_t written;
    int32_t axes;
    int32_t extents[6];
    int32_t strides[6]; /* elements */
} tw_rt_window;

#ifdef TW_RT_ENGINES
/* From here on `kernel` gives its engine commands that name these bytes and no others; with a `count` of 0 it has done
 * so. A runtime may hide all else meanwhile. */
void tw_rt_engine_names(const char *kernel, const tw_rt_window *windows, uint32_t count);

/* A job of `kernel` has been started, of `part / whole` times so many cycles. What it reads may not change, and what it
 * writes may not be touched, until it is waited for. */
void tw_rt_engine_start(uint32_t engine, const char *kernel, uint32_t cycles, int32_t part, int32_t whole,
        const tw_rt_window *windows, uint32_t count);

/* No more than the last `behind` jobs that were started are left: what the others have written is there. */
void tw_rt_engine_wait(uint32_t engine, int32_t behind);

/* How many jobs have not ended; those that have must still be waited for. */
uint32_t tw_rt_engine_poll(uint32_t engine);
#else
static inline void tw_rt_engine_names(const char *kernel, const tw_rt_window *windows, uint32_t count)
{
    (void)kernel;
    (void)windows;
    (void)count;
}

static inline void tw_rt_engine_start(uint32_t engine, const char *kernel, uint32_t cycles, int32_t part, int32_t whole,
        const tw_rt_window *windows, uint32_t count)
{
    (void)engine;
    (void)kernel;
    (void)cycles;
    (void)part;
    (void)whole;
    (void)windows;
    (void)count;
}

static inline void tw_rt_engine_wait(uint32_t engine, int32_t behind)
{
    (void)engine;
    (void)behind;
}

static inline uint32_t tw_rt_engine_poll(uint32_t engine)
{
    (void)engine;
    return 0u;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
