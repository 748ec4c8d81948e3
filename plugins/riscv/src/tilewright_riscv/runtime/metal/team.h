/* What the core with `main` and the cores of the cluster share, and how each of them knows that its stack is whole. */
#ifndef TW_TEAM_H
#define TW_TEAM_H

#include <stdint.h>

/* The compiler moves no access to memory across. The cores themselves keep their order. */
#define TW_ORDER() __asm__ volatile("" ::: "memory")

/* start.S fills stacks with this, and points tp at the lowest word of the core's own. */
#define TW_STACK_PAINT 0x57AC57ACu
#define TW_GUARD_WORDS 4u /* lowest words of a stack: who has written there, writes into his neighbour's next */

struct tw_team {
    int (*volatile entry)(void);
    volatile uint32_t calls;    /* start call number .. */
    volatile uint32_t finished; /* call number .. is over */
    volatile uint32_t ready;    /* barriers work */
    volatile int status;
};
extern struct tw_team tw_team;

extern uint32_t tw_stacks[]; /* TW_TEAM of them, TW_STACK_BYTES each */
int tw_stacks_whole(void);   /* of all cores */

/* Of this core; barriers ask, so that a core whose stack was too small ends the program before others run wild. */
static inline int tw_stack_whole(void)
{
    const volatile uint32_t *stack;
    __asm__("mv %0, tp" : "=r"(stack));
    return ((stack[0] ^ TW_STACK_PAINT) | (stack[TW_GUARD_WORDS - 1u] ^ TW_STACK_PAINT)) == 0u;
}

#endif
