/* Copies of tw_rt: MCHAN between L1 and the rest of the chip, external.c for the external RAM.
 *
 * MCHAN has 16 counters. Reading its command register takes one; commands written after that belong to it, until the
 * next is taken; its bit of the status is set until all of them are done. On the cluster's side bytes lie without gaps.
 */
#include "metal.h"
#include "external.h"
#include "tw_rt.h"

#include <string.h>

#define MCHAN_COMMAND TW_REGISTER(0x10204400u) /* of this core */
#define MCHAN_STATUS TW_REGISTER(0x10204404u)
#define TO_L1 (1u << 17)
#define INCREMENT (1u << 18)
#define STRIDED (1u << 19)
#define MOST_BYTES 0x1FFF0u /* 17 bits, and a multiple of what moves in a cycle */

static int inside(uintptr_t address, uint32_t base, uint32_t bytes)
{
    return address - base < bytes;
}

static void command(uint32_t flags, uint32_t bytes, uintptr_t near, uintptr_t far)
{
    MCHAN_COMMAND = bytes | flags | INCREMENT;
    MCHAN_COMMAND = (uint32_t)near;
    MCHAN_COMMAND = (uint32_t)far;
}

/* Rows with gaps in L1, or more than one command can say. */
__attribute__((noinline)) static uint32_t in_parts(uint32_t flags, uint32_t bytes, uint32_t rows, uintptr_t near,
                                                   uint32_t near_stride, uintptr_t far, uint32_t far_stride)
{
    const uint32_t counter = MCHAN_COMMAND;
    for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t at = 0; at < bytes; at += MOST_BYTES) {
            const uint32_t left = bytes - at;
            command(flags, left < MOST_BYTES ? left : MOST_BYTES, near + at, far + at);
        }
        near += near_stride;
        far += far_stride;
    }
    return counter + 1u;
}

/* Within one memory: no engine. */
__attribute__((noinline)) static uint32_t by_core(uint8_t *target, const uint8_t *source, uint32_t bytes, uint32_t rows,
                                                  uint32_t target_stride, uint32_t source_stride)
{
    for (uint32_t row = 0; row < rows; ++row) {
        memcpy(target + row * target_stride, source + row * source_stride, bytes);
    }
    return 0u;
}

/* While this core is here, it does not compute: what is common is done in few instructions. */
static uint32_t start(uint32_t flags, uint32_t bytes, uint32_t rows, uintptr_t near, uint32_t near_stride,
                      uintptr_t far, uint32_t far_stride)
{
    const uint32_t size = bytes * rows;
    if (size - 1u < MOST_BYTES && (rows == 1u || near_stride == bytes)) {
        const uint32_t counter = MCHAN_COMMAND;
        if (rows == 1u || far_stride == bytes) {
            command(flags, size, near, far);
        } else {
            command(flags | STRIDED, size, near, far);
            MCHAN_COMMAND = bytes;
            MCHAN_COMMAND = far_stride;
        }
        return counter + 1u;
    }
    return in_parts(flags, bytes, rows, near, near_stride, far, far_stride);
}

uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    const uintptr_t target = (uintptr_t)dst, source = (uintptr_t)src;
    const int in = inside(target, TW_L1_BASE, TW_L1_BYTES), out = inside(source, TW_L1_BASE, TW_L1_BYTES);
    TW_ORDER_COPIES();
    if (in && !out) {
        return start(TO_L1, bytes, rows, target, dst_stride, source, src_stride);
    }
    if (out && !in) {
        return start(0u, bytes, rows, source, src_stride, target, dst_stride);
    }
#if TW_FARTHER /* else nobody needs the stack that copies to the external RAM take */
    if (inside(target, TW_L3_BASE, TW_L3_BYTES)) {
        return tw_external_copy((uint8_t *)source, target - TW_L3_BASE, bytes, rows, src_stride, dst_stride, 1);
    }
    if (inside(source, TW_L3_BASE, TW_L3_BYTES)) {
        return tw_external_copy((uint8_t *)target, source - TW_L3_BASE, bytes, rows, dst_stride, src_stride, 0);
    }
#endif
    return by_core((uint8_t *)target, (const uint8_t *)source, bytes, rows, dst_stride, src_stride);
}

void tw_rt_wait(uint32_t transfer)
{
    if (transfer >= TW_EXTERNAL) {
        tw_external_wait(transfer);
    } else if (transfer) {
        const uint32_t counter = 1u << (transfer - 1u);
        while (MCHAN_STATUS & counter) {
        }
        MCHAN_STATUS = counter; /* free it */
    }
    TW_ORDER_COPIES();
}
