/* The controller's side: starts the cluster, and hands it work. */
#include "metal.h"
#include "team.h"

#define CLUSTER_START TW_REGISTER(0x10200008u)           /* a bit per core */
#define CLUSTER_ENTRY(core) TW_REGISTER(0x10200040u + 4u * (core))
#define CLUSTER_CACHE TW_REGISTER(0x10201400u)           /* of instructions; off after reset, and four times slower */

extern void _start(void);

struct tw_team tw_team;

static void start_cluster(void)
{
    for (uint32_t core = 0; core < TW_TEAM; ++core) {
        CLUSTER_ENTRY(core) = (uint32_t)(uintptr_t)_start;
    }
    CLUSTER_CACHE = 0xFFFFFFFFu;
    CLUSTER_START = (1u << TW_TEAM) - 1u;
}

int tw_cluster_run(int (*entry)(void))
{
    const uint32_t call = tw_team.calls + 1u;
    tw_team.entry = entry;
    tw_team.status = 0;
    TW_ORDER();
    tw_team.calls = call;
    if (call == 1u) {
        start_cluster();
    }
    while (tw_team.finished != call) {
        for (uint32_t i = 0; i < 50u; ++i) { /* leave the bus to the cluster */
            __asm__ volatile("");
        }
    }
    TW_ORDER();
    if (tw_team.status == TW_SHARED_REGISTERS) {
        tw_say("the cores keep floats in the registers of integers: Siracusa does not, GVSoC's model of it did from"
               " May 2025 to June 2026: install a GVSoC from before or after\n");
        return TW_SHARED_REGISTERS;
    }
    return tw_stacks_whole() ? tw_team.status : TW_STACK_OVERFLOW;
}
