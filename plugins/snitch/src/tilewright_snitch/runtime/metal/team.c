/* tw_rt on the cluster, copies excepted: cores, the barrier in hardware, and nothing for lifetimes and clocks. */
#include "metal.h"
#include "team.h"
#include "tw_rt.h"

struct tw_team tw_team;

void tw_core_main(void);

uint32_t tw_rt_core(void)
{
    uint32_t hart;
    __asm__(".option push\n\t.option arch, +zicsr\n\tcsrr %0, mhartid\n\t.option pop" : "=r"(hart));
    return hart == TW_MOVING_HART ? TW_CORES : hart;
}

uint32_t tw_rt_cores(void)
{
    return TW_CORES;
}

int tw_rt_is_dma_core(void)
{
    return tw_rt_core() == TW_CORES;
}

/* The float unit has a queue and a path to memory of its own: an integer register that it writes comes after all that it
 * was given before. */
static inline void finish_floats(void)
{
    uint32_t last;
    __asm__ volatile("fmv.x.w %0, fa0\n\tmv %0, %0" : "=r"(last)::"memory");
    (void)last;
}

void tw_rt_barrier(void)
{
    if (!tw_stack_whole()) {
        tw_exit(TW_STACK_OVERFLOW);
    }
    finish_floats();
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tfence\n\tcsrr x0, 0x7C2\n\t.option pop" ::: "memory");
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

/* What every core of the team does of a call. */
static void take_part(void)
{
    int status;
    tw_rt_barrier();
    status = tw_team.entry();
    if (status) {
        tw_team.status = status;
    }
    tw_rt_barrier();
}

void tw_core_main(void)
{
    for (;;) {
        take_part();
    }
}

/* On the core that moves data. */
int tw_cluster_run(int (*entry)(void))
{
    tw_team.entry = entry;
    tw_team.status = 0;
    take_part();
    TW_ORDER();
    return tw_stacks_whole() ? tw_team.status : TW_STACK_OVERFLOW;
}
