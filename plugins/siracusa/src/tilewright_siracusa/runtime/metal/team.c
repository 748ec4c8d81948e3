/* tw_rt on the cluster, copies excepted: cores, barriers through the event unit, and nothing for lifetimes and clocks. */
#include "metal.h"
#include "team.h"
#include "tw_rt.h"

#include <string.h>

#define EVENT_MASK_SET TW_REGISTER(0x10204008u) /* of this core */
#define BARRIER 0x10204200u                     /* number 0 of the event unit */
#define BARRIER_CORES TW_REGISTER(BARRIER)
#define BARRIER_WOKEN TW_REGISTER(BARRIER + 0xCu)
#define BARRIER_WAIT (BARRIER + 0x1Cu)
#define BARRIER_EVENT (1u << 16)
#define EVERY_CORE ((1u << TW_TEAM) - 1u)
#define MOVING_CORE (TW_TEAM > TW_CORES ? TW_CORES : 0u) /* one more that computes nothing, or the first */
#define TIMER_START TW_REGISTER(0x10200400u) /* of the cluster; machine.h reads it */

void tw_core_main(uint32_t core, uint32_t shared_registers);

uint32_t tw_rt_core(void)
{
    uint32_t hart;
    __asm__(".option push\n\t.option arch, +zicsr\n\tcsrr %0, mhartid\n\t.option pop" : "=r"(hart));
    return hart & 31u;
}

uint32_t tw_rt_cores(void)
{
    return TW_CORES;
}

int tw_rt_is_dma_core(void)
{
    return tw_rt_core() == MOVING_CORE;
}

/* The controller goes on, this core never: others may be running wild already. */
static void give_up(int status)
{
    tw_team.status = status;
    TW_ORDER();
    tw_team.finished = tw_team.calls;
    while (tw_team.finished) {
    }
}

/* p.elw rd, 0(rs1): reports to the barrier and sleeps until the event unit answers. */
void tw_rt_barrier(void)
{
    uint32_t event;
    if (!tw_stack_whole()) {
        give_up(TW_STACK_OVERFLOW);
    }
    __asm__ volatile(".insn i 0x03, 6, %0, %1, 0" : "=r"(event) : "r"(BARRIER_WAIT) : "memory");
    (void)event;
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

static void open_team(uint32_t core)
{
    if (core == 0u) {
        BARRIER_CORES = EVERY_CORE;
        BARRIER_WOKEN = EVERY_CORE;
        TIMER_START = 1u;
        tw_team.ready = 1u;
    }
    while (!tw_team.ready) {
    }
    EVENT_MASK_SET = BARRIER_EVENT;
}

void tw_core_main(uint32_t core, uint32_t shared_registers)
{
    uint32_t call = 0u;
    if (shared_registers) {
        if (core == 0u) {
            give_up(TW_SHARED_REGISTERS);
        }
        return;
    }
    open_team(core);
    for (;;) {
        int status;
        ++call;
        while (core == 0u && tw_team.calls != call) {
        }
        tw_rt_barrier();
        status = tw_team.entry();
        if (status) {
            tw_team.status = status;
        }
        tw_rt_barrier();
        if (core == 0u) {
            tw_team.finished = call;
        }
    }
}
