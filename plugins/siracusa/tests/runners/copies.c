/* Copies of every form through the runtime's copy.c, external.c and memory.c, each against bytes moved one by one. */
#include "metal.h"
#include "tw_rt.h"

#include <string.h>

enum { SIZE = 2048, MANY = 240, LARGE = 150000 };

static __attribute__((section(".bss.tw.l1"), aligned(64))) uint8_t l1[LARGE + 64];
static __attribute__((section(".bss.tw.l2"), aligned(64))) uint8_t l2[LARGE + 64], mirror[SIZE], whole[SIZE];
static __attribute__((section(".bss.tw.l3"), aligned(64))) uint8_t l3[LARGE + 64];

typedef struct {
    uint32_t bytes, rows, to, from, to_stride, from_stride;
} form;

static uint32_t seed = 7u;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void fill(uint8_t *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)draw(256u);
    }
}

static void copy(void *to, const void *from, uint32_t size)
{
    tw_rt_wait(tw_rt_copy(to, from, size, 1u, size, size));
}

/* Some whole words, some rows without gaps, on one side or on both; otherwise anything. */
static form drawn(void)
{
    form one;
    const uint32_t unit = draw(2u) ? 4u : 1u;
    one.bytes = unit * (1u + draw(draw(4u) ? 40u / unit : 400u / unit));
    one.rows = one.bytes > 100u || draw(3u) == 0u ? 1u : 1u + draw(9u);
    one.to_stride = one.bytes + (draw(2u) ? unit * draw(8u) : 0u);
    one.from_stride = one.bytes + (draw(2u) ? unit * draw(8u) : 0u);
    one.to = unit * draw(64u);
    one.from = unit * draw(64u);
    return one;
}

/* What is at `from` is in `known` too; what comes to `to` is compared as a whole, gaps included. */
static int wrong(uint8_t *to, const uint8_t *from, const uint8_t *known, const form *one)
{
    fill(mirror, SIZE);
    memcpy(whole, mirror, SIZE);
    copy(to, whole, SIZE);
    for (uint32_t row = 0; row < one->rows; ++row) {
        for (uint32_t i = 0; i < one->bytes; ++i) {
            mirror[one->to + row * one->to_stride + i] = known[one->from + row * one->from_stride + i];
        }
    }
    tw_rt_wait(tw_rt_copy(to + one->to, from + one->from, one->bytes, one->rows, one->to_stride, one->from_stride));
    copy(whole, to, SIZE);
    for (uint32_t i = 0; i < SIZE; ++i) {
        if (whole[i] != mirror[i]) {
            return 1;
        }
    }
    return 0;
}

static int small_ones(uint8_t *known)
{
    for (uint32_t i = 0; i < MANY; ++i) {
        const form one = drawn();
        const uint32_t way = i % 6u;
        uint8_t *const to = way == 0u ? l1 : way == 1u ? l3 : way == 2u ? l1 : way == 3u ? l2 + SIZE : l2;
        const uint8_t *const from = way == 2u ? l1 + SIZE : way == 4u ? l1 : way == 5u ? l3 : l2;
        fill(known, SIZE);
        copy((uint8_t *)(uintptr_t)from, known, SIZE);
        if (wrong(to, from, known, &one)) {
            return 1;
        }
    }
    return 0;
}

/* Begun together, waited for in another order. */
static int many_at_once(const uint8_t *known)
{
    uint32_t numbers[16];
    for (uint32_t i = 0; i < 16u; ++i) {
        numbers[i] = i % 2u ? tw_rt_copy(l3 + 64u * i, known + 64u * i, 64u, 1u, 0u, 0u)
                            : tw_rt_copy(l1 + 64u * i, known + 64u * i, 64u, 1u, 0u, 0u);
    }
    for (uint32_t i = 16u; i-- > 0u;) {
        tw_rt_wait(numbers[i]);
        copy(whole + 64u * i, i % 2u ? l3 + 64u * i : l1 + 64u * i, 64u);
    }
    return memcmp(whole, known, 16u * 64u);
}

static int large(void)
{
    for (uint32_t i = 0; i < LARGE / 4u; ++i) {
        ((uint32_t *)(void *)l2)[i] = i * 2654435761u;
    }
    copy(l1, l2, LARGE);
    copy(l3, l2, LARGE);
    memset(l2, 0, LARGE);
    copy(l2, l3, LARGE);
    if (memcmp(l2, l1, LARGE)) {
        return 1;
    }
    memset(l2, 0, LARGE);
    tw_rt_wait(tw_rt_copy(l2, l1, 1000u, 140u, 1000u, 1008u)); /* gaps in L1 */
    return memcmp(l2 + 139000, l1 + 139u * 1008u, 1000u);
}

/* By the core: every offset, in L1 and between L1 and L2. */
static int by_the_core(const uint8_t *known)
{
    for (uint32_t i = 0; i < MANY; ++i) {
        uint8_t *const to = (i % 2u ? l1 : l2) + draw(8u);
        const uint8_t *const from = known + draw(8u);
        const uint32_t bytes = draw(40u);
        memset(to, 0x5A, bytes + 1u);
        memcpy(to, from, bytes);
        if (memcmp(to, from, bytes) || to[bytes] != 0x5A) {
            return 1;
        }
        memmove(to + 3, to, bytes);
        if (memcmp(to + 3, from, bytes)) {
            return 1;
        }
    }
    return 0;
}

static int on_core(void)
{
    static uint8_t known[SIZE] __attribute__((aligned(4)));
    if (tw_rt_core() != 0u) {
        return 0;
    }
    return small_ones(known) ? 11 : many_at_once(known) ? 12 : large() ? 13 : by_the_core(known) ? 14 : 0;
}

int main(void)
{
    const int status = tw_cluster_run(on_core);
    tw_say(status ? "copies: wrong in part " : "copies: right\n");
    if (status) {
        tw_say_number((uint32_t)status);
        tw_say("\n");
    }
    return status;
}
