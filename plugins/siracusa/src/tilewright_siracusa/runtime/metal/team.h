/* What the controller and the cores of the cluster share, in L2. */
#ifndef TW_TEAM_H
#define TW_TEAM_H

#include <stdint.h>

/* The compiler moves no access to memory across. The cores themselves keep their order. */
#define TW_ORDER() __asm__ volatile("" ::: "memory")

struct tw_team {
    int (*volatile entry)(void);
    volatile uint32_t calls;    /* written by the controller: start call number .. */
    volatile uint32_t finished; /* written by core 0: call number .. is over */
    volatile uint32_t ready;    /* written by core 0: barriers work */
    volatile int status;
};
extern struct tw_team tw_team;

#endif
