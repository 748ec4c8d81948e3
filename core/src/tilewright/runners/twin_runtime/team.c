/* team.c - cores as threads: one at a time in an order that the seed permutes at every barrier, or all at once. */
#include "twin.h"
#include "tw_rt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t now;
    char apart[120]; /* no two cores in one cache line */
} core_state;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t turn[TWIN_MOST_CORES];
    uint32_t order[TWIN_MOST_CORES];
    uint32_t position; /* in `order`: whose turn it is */
    uint32_t size;
    uint32_t arrived;
    uint32_t finished;
    uint32_t generation;
    uint64_t random;
    int (*run)(void);
    int answer;
} team;

static core_state cores[TWIN_MOST_CORES];
static _Atomic uint32_t current_step; /* one core may speak for all: between two steps there is a barrier */
static pthread_mutex_t runtime_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local uint32_t self = UINT32_MAX;

uint32_t twin_self(void)
{
    return self;
}

uint32_t twin_team_size(void)
{
    return twin.machine.cores + (twin.machine.extra_dma_core ? 1u : 0u);
}

uint32_t twin_step_now(void)
{
    return atomic_load_explicit(&current_step, memory_order_relaxed);
}

uint64_t twin_now(void)
{
    return self == UINT32_MAX ? 0u : cores[self].now;
}

void twin_wait_until(uint64_t cycle)
{
    if (self != UINT32_MAX && cores[self].now < cycle) {
        twin_count_stall(twin_step_now(), cycle - cores[self].now);
        cores[self].now = cycle;
    }
}

void twin_lock(void)
{
    pthread_mutex_lock(&runtime_lock);
}

void twin_unlock(void)
{
    pthread_mutex_unlock(&runtime_lock);
}

uint32_t tw_rt_core(void)
{
    return self == UINT32_MAX ? 0u : self;
}

uint32_t tw_rt_cores(void)
{
    return twin.machine.cores;
}

int tw_rt_is_dma_core(void)
{
    return self == UINT32_MAX || self == (twin.machine.extra_dma_core ? twin.machine.cores : 0u);
}

void tw_rt_charge(uint32_t cycles)
{
    if (self != UINT32_MAX) {
        twin_count_compute(self, twin_step_now(), cycles);
        cores[self].now += cycles;
    }
}

void twin_step(uint32_t step, int ends)
{
    uint32_t core = tw_rt_core();
    atomic_store_explicit(&current_step, step, memory_order_relaxed);
    twin_count_step(core, step, ends, cores[core].now);
}

/* Seed 0 is ascending, seed 1 descending, so that of any two cores each comes first once; others are random. */
static void permute(void)
{
    for (uint32_t i = 0; i < team.size; ++i) {
        team.order[i] = twin.seed == 1u ? team.size - 1u - i : i;
    }
    for (uint32_t i = team.size - 1u; i > 0u && twin.seed > 1u; --i) {
        team.random = team.random * 6364136223846793005u + 1442695040888963407u;
        uint32_t other = (uint32_t)(team.random >> 33) % (i + 1u);
        uint32_t kept = team.order[i];
        team.order[i] = team.order[other];
        team.order[other] = kept;
    }
    team.position = 0u;
}

static int my_turn(void)
{
    return twin.mode == TWIN_FREE || (team.position < team.size && team.order[team.position] == self);
}

static void wake_next(void)
{
    if (team.position < team.size) {
        pthread_cond_signal(&team.turn[team.order[team.position]]);
    }
}

static void open_barrier(void)
{
    uint64_t latest = 0u;
    for (uint32_t i = 0; i < team.size; ++i) {
        latest = cores[i].now > latest ? cores[i].now : latest;
    }
    twin_count_barrier();
    for (uint32_t i = 0; i < team.size; ++i) {
        cores[i].now = latest;
    }
    team.arrived = 0u;
    ++team.generation;
    permute();
    for (uint32_t i = 0; i < team.size && twin.mode == TWIN_FREE; ++i) {
        pthread_cond_signal(&team.turn[i]);
    }
}

static void divergence(void)
{
    twin_fault("TW7109", "%u cores have left the network, %u wait at a barrier: not every core meets the same barriers",
               team.finished, team.arrived);
}

void tw_rt_barrier(void)
{
    uint32_t generation;
    if (self == UINT32_MAX || team.size == 1u) {
        if (self != UINT32_MAX) {
            twin_count_barrier();
        }
        return;
    }
    pthread_mutex_lock(&team.lock);
    generation = team.generation;
    ++team.arrived;
    if (team.finished) {
        divergence();
    }
    if (team.arrived == team.size) {
        open_barrier();
    } else {
        ++team.position;
    }
    wake_next();
    while (generation == team.generation || !my_turn()) {
        pthread_cond_wait(&team.turn[self], &team.lock);
    }
    pthread_mutex_unlock(&team.lock);
}

static void *core_main(void *number)
{
    int answer;
    self = (uint32_t)(uintptr_t)number;
    pthread_mutex_lock(&team.lock);
    while (!my_turn()) {
        pthread_cond_wait(&team.turn[self], &team.lock);
    }
    pthread_mutex_unlock(&team.lock);
    answer = team.run();
    pthread_mutex_lock(&team.lock);
    ++team.finished;
    team.answer = team.answer != 0 ? team.answer : answer;
    if (team.arrived) {
        divergence();
    }
    ++team.position;
    wake_next();
    pthread_mutex_unlock(&team.lock);
    return NULL;
}

int twin_team(int (*run)(void))
{
    pthread_t threads[TWIN_MOST_CORES];
    uint64_t latest = 0u;
    memset(&team, 0, sizeof team);
    memset(cores, 0, sizeof cores);
    pthread_mutex_init(&team.lock, NULL);
    team.size = twin_team_size();
    team.run = run;
    team.random = twin.seed;
    atomic_store_explicit(&current_step, TWIN_NO_STEP, memory_order_relaxed);
    for (uint32_t i = 0; i < team.size; ++i) {
        pthread_cond_init(&team.turn[i], NULL);
    }
    permute();
    for (uint32_t i = 0; i < team.size; ++i) {
        if (pthread_create(&threads[i], NULL, core_main, (void *)(uintptr_t)i) != 0) {
            twin_fault("TW7100", "this machine does not start %u threads", team.size);
        }
    }
    for (uint32_t i = 0; i < team.size; ++i) {
        pthread_join(threads[i], NULL);
    }
    for (uint32_t i = 0; i < team.size; ++i) {
        latest = cores[i].now > latest ? cores[i].now : latest;
    }
    twin_count_end(latest);
    return team.answer;
}
