/* Copies of tw_rt: MCHAN between L1 and the rest of the chip, external.c for the external RAM.
 *
 * MCHAN has 16 counters. Reading its command register takes one; commands written after that belong to it, until the
 * next is taken; its bit of the status is set until all of them are done. On the cluster's side bytes lie without gaps.
 */
#include "siracusa.h"
#include "external.h"
#include "tw_rt.h"

#include <string.h>

#define MCHAN_COMMAND TW_REGISTER(0x10204400u) /* of this core */
#define MCHAN_STATUS TW_REGISTER(0x10204404u)
#define TO_L1 (1u << 17)
#define INCREMENT (1u << 18)
#define STRIDED (1u << 19)
#define MOST_BYTES 0x1FFF0u /* 17 bits, and a multiple of what moves in a cycle */

typedef struct {
    uint8_t *near;
    uint32_t near_stride;
    uintptr_t far;
    uint32_t far_stride;
    uint32_t flags;
} ends;

static int inside(uintptr_t address, uint32_t base, uint32_t bytes)
{
    return address - base < bytes;
}

static void command(const ends *one, uint32_t near, uint32_t far, uint32_t bytes, uint32_t more)
{
    MCHAN_COMMAND = bytes | one->flags | INCREMENT | more;
    MCHAN_COMMAND = (uint32_t)(uintptr_t)one->near + near;
    MCHAN_COMMAND = (uint32_t)one->far + far;
}

/* Bytes without gaps on both sides, in as many commands as it takes. */
static void dense(const ends *one, uint32_t near, uint32_t far, uint32_t bytes)
{
    while (bytes) {
        const uint32_t part = bytes < MOST_BYTES ? bytes : MOST_BYTES;
        command(one, near, far, part, 0u);
        near += part;
        far += part;
        bytes -= part;
    }
}

/* Rows with gaps on the far side only. */
static void gathered(const ends *one, uint32_t bytes, uint32_t rows)
{
    const uint32_t most = MOST_BYTES / bytes;
    for (uint32_t row = 0; row < rows; row += most) {
        const uint32_t part = rows - row < most ? rows - row : most;
        command(one, row * bytes, row * one->far_stride, part * bytes, STRIDED);
        MCHAN_COMMAND = bytes;
        MCHAN_COMMAND = one->far_stride;
    }
}

static uint32_t start(const ends *one, uint32_t bytes, uint32_t rows)
{
    const uint32_t counter = MCHAN_COMMAND;
    if (rows == 1u || (one->near_stride == bytes && one->far_stride == bytes)) {
        dense(one, 0u, 0u, rows * bytes);
    } else if (one->near_stride == bytes && bytes <= MOST_BYTES) {
        gathered(one, bytes, rows);
    } else {
        for (uint32_t row = 0; row < rows; ++row) {
            dense(one, row * one->near_stride, row * one->far_stride, bytes);
        }
    }
    return counter + 1u;
}

uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    const uintptr_t target = (uintptr_t)dst, source = (uintptr_t)src;
    const int in = inside(target, TW_L1_BASE, TW_L1_BYTES), out = inside(source, TW_L1_BASE, TW_L1_BYTES);
    TW_ORDER_COPIES();
    if (inside(target, TW_L3_BASE, TW_L3_BYTES)) {
        return tw_external_copy((uint8_t *)source, target - TW_L3_BASE, bytes, rows, src_stride, dst_stride, 1);
    }
    if (inside(source, TW_L3_BASE, TW_L3_BYTES)) {
        return tw_external_copy((uint8_t *)target, source - TW_L3_BASE, bytes, rows, dst_stride, src_stride, 0);
    }
    if (in && !out) {
        const ends one = {(uint8_t *)target, dst_stride, source, src_stride, TO_L1};
        return start(&one, bytes, rows);
    }
    if (out && !in) {
        const ends one = {(uint8_t *)source, src_stride, target, dst_stride, 0u};
        return start(&one, bytes, rows);
    }
    for (uint32_t row = 0; row < rows; ++row) { /* within one memory: no engine */
        memcpy((uint8_t *)target + row * dst_stride, (const uint8_t *)source + row * src_stride, bytes);
    }
    return 0u;
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
