/* twin.h - a machine with several cores and memories, played on this one. What the runtime's parts share. */
#ifndef TWIN_H
#define TWIN_H

#include <stddef.h>
#include <stdint.h>

#define TWIN_MOST_CORES 64u
#define TWIN_MOST_IN_FLIGHT 256u
#define TWIN_MOST_JOBS 128u
#define TWIN_MOST_WINDOWS 16u
#define TWIN_NO_STEP UINT32_MAX

/* Memory with pages on both sides that nobody may touch. */
typedef struct {
    const char *name;
    uint32_t memory;   /* number of the memory it is a part of */
    uint32_t bytes;    /* what the plan takes; the rest of its last page is watched */
    uintptr_t address; /* where it is on the device */
    int read_only;     /* once it is filled */
    uint8_t *base;
    size_t mapped;
    uint16_t *owner; /* of every byte: TWIN_OPEN, TWIN_DEAD, or the declaration that made it live */
} twin_arena;

#define TWIN_OPEN 0u
#define TWIN_DEAD 1u

/* Bytes that must be declared live before they are used. */
typedef struct {
    uint32_t arena;
    uint32_t offset;
    uint32_t bytes;
} twin_tile;

/* From one memory to another. `engine`: what does the work, one transfer after the other in each of
 * `queues`. 0 is no limit. */
typedef struct {
    const char *name;
    uint32_t source;
    uint32_t target;
    uint32_t engine;
    uint32_t max_bytes;
    uint32_t align;
    uint32_t dimensions;
    uint32_t channels;
    uint32_t queues;
} twin_path;

typedef struct {
    twin_arena *arenas;
    uint32_t arena_count;
    const twin_tile *tiles;
    uint32_t tile_count;
    const char *const *memories;
    uint32_t memory_count;
    const twin_path *paths;
    uint32_t path_count;
    uint32_t engine_count;
    const uint32_t *queues; /* jobs that each engine takes */
    uint32_t compute_count; /* engines that compute */
    const char *const *steps;
    uint32_t step_count;
    uint32_t cores;      /* that compute */
    int extra_dma_core;  /* whether one more core moves data; otherwise core 0 does */
} twin_machine;

typedef enum { TWIN_LAZY, TWIN_EAGER, TWIN_FREE } twin_mode;

typedef struct {
    twin_machine machine;
    twin_mode mode;
    uint32_t seed;
    int timeline;
} twin_state;

extern twin_state twin;

/* Arguments of the program: SEED MODE [timeline]. Maps every arena. */
void twin_boot(const twin_machine *machine, int argc, char **argv);

/* Before and after one inference. `run` is called by every core; its first answer that is not 0 is returned. */
void twin_begin(void);
int twin_team(int (*run)(void));
void twin_end(void);

/* Writes report.json about the inference that ended last, and ends the program's bookkeeping. */
void twin_report(void);

/* What a step begins and ends; every core may say so. */
void twin_step(uint32_t step, int ends);

/* Says what went wrong, in which step, on which core, and ends the program. */
_Noreturn void twin_fault(const char *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* memory.c */
void twin_map(void);
void twin_fill(void);
void twin_check_edges(void);
void twin_protect(void);
twin_arena *twin_arena_of(const void *bytes, size_t size);
void twin_hide(const void *bytes, size_t size);   /* from AddressSanitizer's point of view */
void twin_unhide(const void *bytes, size_t size);
void twin_move(void *target, const void *source, size_t size); /* whatever is hidden */
int twin_equal(const void *one, const void *other, size_t size);
void twin_set(void *target, uint8_t value, size_t size);
int twin_holds(const void *bytes, uint8_t value, size_t size);
uint8_t twin_pattern(uint8_t base); /* another one in every run */

/* copy.c */
void twin_copies_begin(void);
void twin_copies_end(void);

/* engine.c */
void twin_engines_begin(void);
void twin_engines_end(void);
void twin_demand_unowned(const void *bytes, size_t size, int written, const char *what);

/* team.c */
uint32_t twin_self(void); /* number of this core in the team; UINT32_MAX outside */
uint32_t twin_team_size(void);
uint32_t twin_step_now(void);
uint64_t twin_now(void);
void twin_wait_until(uint64_t cycle);
void twin_lock(void);
void twin_unlock(void);

/* clock.c */
void twin_clock_begin(void);
uint64_t twin_transfer_cycles(uint32_t path, uint32_t bytes, uint32_t rows);
void twin_count_transfer(uint32_t path, uint32_t bytes);
void twin_count_step(uint32_t core, uint32_t step, int ends, uint64_t now);
void twin_count_compute(uint32_t core, uint32_t step, uint32_t cycles);
void twin_count_stall(uint32_t step, uint64_t cycles);
void twin_count_barrier(void);
void twin_count_end(uint64_t now);
void twin_event(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
