/* What board.c offers the program around the network: the team, files of the host, faults.
 *
 * The command line defines CORES, EXTRA_DMA_CORE (0 or 1: one more hart moves data, otherwise core 0 does), CHANNELS (of
 * each copy engine) and STEPS (of the network).
 */
#ifndef TW_BOARD_H
#define TW_BOARD_H

#define TEAM (CORES + EXTRA_DMA_CORE)
#define PAGE 4096
#define GUARD PAGE  /* nobody may touch it: below each stack, behind each memory */
#define STACK 16384 /* of each hart */
#define FAULT_STACK 512

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

/* A memory of the target: whole pages, with guards before and behind them. */
struct board_memory {
    const char *name;
    const uint8_t *room;
    const uint8_t *end;
    int near; /* whether it is the scratchpad */
};
extern const struct board_memory board_memories[];
extern const uint32_t board_memory_count;

/* From barrier to barrier harts run one after the other, so that what each one executes can be counted, or all at once. */
enum board_order { BOARD_ASCENDING, BOARD_DESCENDING, BOARD_AT_ONCE };

/* Harts start, and from here on nobody may touch what is not his. */
void board_open_team(enum board_order order);

/* Runs `work` on every hart; the first status that is not 0. */
int board_team(int (*work)(void));

/* Around what core 0 does between two barriers that is not the network's. What is executed from then on belongs to this
 * step; STEPS: to none. */
void board_begin_hook(void);
void board_end_hook(uint32_t step);
uint32_t board_now(void); /* that step */

uint64_t board_instructions(uint32_t hart, uint32_t step);
uint32_t board_stack_bytes(uint32_t hart); /* the most of all calls of board_team */

int main(void);
void board_start(uint32_t hart); /* from crt.S, on every hart */
void board_protect(uint32_t hart);
extern const uint8_t board_stacks[]; /* for each hart a guard, then its stack */

int board_open(const char *name, int write); /* a handle; ends the program when there is no such file */
void board_read(int file, void *target, size_t bytes);
void board_write(int file, const void *source, size_t bytes);
void board_close(int file);
void board_exit(int status) __attribute__((noreturn));
void board_fail(const char *what, const char *name) __attribute__((noreturn)); /* "TWnnnn text", and a name */

#endif
#endif
