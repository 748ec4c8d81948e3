/* Copies of every form through tw_rt_pmsis.c, each against memcpy. */
#include "stub.h"
#include "tw_rt.h"
#include "tw_rt_pmsis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 40 };

static uint8_t *l1, *l2;
static struct pi_device cluster, ram = {1};

static void fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)(rand() >> 7);
    }
}

static void demand(int holds, const char *what)
{
    if (!holds) {
        stub_fail(what);
    }
}

static void check(uint8_t *dst, const uint8_t *src, uint32_t bytes, uint32_t rows, uint32_t to, uint32_t from)
{
    const uint32_t number = tw_rt_copy(dst, src, bytes, rows, to, from);
    demand(number != 0u, "no number");
    tw_rt_wait(number);
    for (uint32_t row = 0; row < rows; ++row) {
        demand(memcmp(dst + row * to, src + row * from, bytes) == 0, "other bytes");
    }
}

static int work(void)
{
    uint32_t numbers[MANY];
    tw_rt_barrier();
    if (!tw_rt_is_dma_core()) {
        return tw_rt_core() < tw_rt_cores() ? 0 : 5;
    }
    check(l1, l2, 1u, 1u, 1u, 1u);
    check(l1 + 3, l2 + 5, 131071u, 1u, 0u, 0u);            /* more than 16 bits can say */
    check(l1, l2, 17u, 9u, 17u, 100u);                     /* rows together */
    check(l1, l2, 1000u, 200u, 1000u, 1024u);              /* in groups of rows */
    check(l1, l2, 12u, 30u, 16u, 24u);                     /* gaps on both sides */
    check(l1, l2, 32u, 3u, 32u, 70000u);                   /* a stride that 16 bits cannot say */
    check(l1, l2, 70000u, 3u, 70000u, 70016u);             /* rows that 16 bits cannot say */
    check(l2, l1, 131071u, 1u, 0u, 0u);                    /* and back */
    check(l2 + 1, l1, 33u, 20u, 64u, 33u);
    check(l1 + 1024, l1, 100u, 1u, 100u, 100u);            /* within a memory */
    for (uint32_t i = 0; i < MANY; ++i) {                  /* more than there are counters */
        numbers[i] = tw_rt_copy(l1 + i * 64u, l2 + i * 100u, 64u, 1u, 64u, 64u);
    }
    for (uint32_t i = MANY; i-- > 0u;) {
        tw_rt_wait(numbers[i]);
        demand(memcmp(l1 + i * 64u, l2 + i * 100u, 64u) == 0, "other bytes among many");
    }
    tw_rt_wait(tw_rt_copy(l2, TW_PMSIS_RAM(12), 200000u, 1u, 0u, 0u));
    demand(memcmp(l2, stub_ram_bytes() + 12, 200000u) == 0, "other bytes from the RAM");
    tw_rt_wait(tw_rt_copy(l2, TW_PMSIS_RAM(64), 10u, 7u, 10u, 33u));
    demand(memcmp(l2 + 30, stub_ram_bytes() + 64 + 99, 10u) == 0, "other rows from the RAM");
    tw_rt_wait(tw_rt_copy(l2, TW_PMSIS_RAM(64), 10u, 7u, 12u, 33u));
    demand(memcmp(l2 + 72, stub_ram_bytes() + 64 + 198, 10u) == 0, "other strided rows from the RAM");
    fill(l2, 5000u);
    tw_rt_wait(tw_rt_copy(TW_PMSIS_RAM(1000), l2, 5000u, 1u, 0u, 0u));
    demand(memcmp(l2, stub_ram_bytes() + 1000, 5000u) == 0, "other bytes in the RAM");
    return 0;
}

static int refuse(void)
{
    return tw_rt_core() == 3u ? 7 : 0;
}

int main(void)
{
    l1 = (uint8_t *)stub_memory(STUB_L1, STUB_L1_BYTES);
    l2 = (uint8_t *)stub_memory(STUB_L2, STUB_L2_BYTES);
    stub_ram(1u << 20);
    tw_pmsis_set_ram(&ram);
    fill(l2, STUB_L2_BYTES);
    fill(stub_ram_bytes(), 1u << 20);
    demand(tw_pmsis_run(&cluster, work) == 0, "work");
    demand(tw_pmsis_run(&cluster, refuse) == 7, "a core's status is lost");
    demand(tw_pmsis_run(&ram, work) == -1, "the SDK's status is lost");
    stub_end();
    demand(stub_most_in_flight == 16u, "not all counters were used");
    puts("PASS");
    return 0;
}
