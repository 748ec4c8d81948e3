/* The team: harts that meet at barriers asleep, and tw_rt for the program that they run. */
#include "board.h"
#include "csr.h"

#include <string.h>

#if __has_include("tw_rt.h") /* programs for one core come without */
#  include "tw_rt.h"
#  if TW_RT_API_LEVEL != 1
#    error "this runtime knows API level 1 of tw_rt.h"
#  endif
#endif

enum { DMA_CORE = EXTRA_DMA_CORE ? CORES : 0, PAINT = 0x5AFE57AC, ENGINES = 2 };

/* How harts wait. One after the other, `turn` says whose turn it is; all at once, `phase` grows when all have come. */
static volatile uint32_t opened, turn, arrived, phase, left;
static volatile enum board_order order;
static int (*volatile job)(void);

static struct {
    int status;
    uint32_t stack_bytes;
    uint32_t mark; /* instructions executed when the program went on */
    uint64_t spent[STEPS + 1];
} harts[TEAM];
static volatile uint32_t step = STEPS;

/* ---- counting: instructions of the program, not those of this file ---- */

static inline void leave_program(void)
{
    const uint32_t now = CSR_READ(minstret);
    harts[csr_hart()].spent[step] += now - harts[csr_hart()].mark;
}

static inline void enter_program(void)
{
    harts[csr_hart()].mark = CSR_READ(minstret);
}

void board_begin_hook(void)
{
    leave_program();
}

void board_end_hook(uint32_t number)
{
    step = number;
    enter_program();
}

uint32_t board_now(void)
{
    return step;
}

uint64_t board_instructions(uint32_t hart, uint32_t number)
{
    return harts[hart].spent[number];
}

/* ---- barriers ---- */

#define FENCE() __asm__ volatile("fence rw, rw" ::: "memory")

static void wake(uint32_t hart)
{
    FENCE();
    SOFTWARE_INTERRUPT(hart) = 1u;
}

/* The interrupt is withdrawn before the condition is looked at, so that one sent after that ends the wfi. */
#define SLEEP_UNTIL(condition) \
    for (;;) { \
        SOFTWARE_INTERRUPT(csr_hart()) = 0u; \
        FENCE(); \
        if (condition) { \
            break; \
        } \
        __asm__ volatile("wfi" ::: "memory"); \
    }

static void demand_same_barrier(void)
{
    if (left != 0u && left != TEAM) {
        board_fail("TW7109 a core left the network while others wait at a barrier", "");
    }
}

static uint32_t first_hart(void)
{
    return order == BOARD_DESCENDING ? TEAM - 1u : 0u;
}

/* The last one to have had its turn hands it to the first one, or, when all have left the network, back to hart 0. */
static void pass_on(uint32_t hart)
{
    uint32_t next = order == BOARD_DESCENDING ? hart - 1u : hart + 1u;
    if (hart == TEAM - 1u - first_hart()) {
        demand_same_barrier();
        next = left == 0u ? first_hart() : 0u;
        left = 0u;
    }
    turn = next;
    wake(next);
}

static void meet(uint32_t hart)
{
    const uint32_t now = phase;
    if (__atomic_add_fetch(&arrived, 1u, __ATOMIC_ACQ_REL) < TEAM) {
        SLEEP_UNTIL(phase != now);
        return;
    }
    demand_same_barrier();
    left = 0u;
    arrived = 0u;
    FENCE();
    phase = now + 1u;
    for (uint32_t i = 0; i < TEAM; ++i) {
        if (i != hart) {
            wake(i);
        }
    }
}

void tw_rt_barrier(void)
{
    const uint32_t hart = csr_hart();
    leave_program();
    if (order == BOARD_AT_ONCE) {
        meet(hart);
    } else {
        pass_on(hart);
        SLEEP_UNTIL(turn == hart);
    }
    enter_program();
}

/* ---- copies: bytes arrive at the wait, or, in descending order, at the start ---- */

static struct copy {
    uint8_t *dst;
    const uint8_t *src;
    uint32_t bytes, rows, dst_stride, src_stride;
    int busy, near;
} copies[ENGINES * CHANNELS];

/* Whether an address is in the scratchpad. One engine moves what comes there or leaves, another one everything else. */
static int near(const uint8_t *address)
{
    for (uint32_t i = 0; i < board_memory_count; ++i) {
        const struct board_memory *memory = &board_memories[i];
        if (memory->near && memory->room <= address && address < memory->end) {
            return 1;
        }
    }
    return 0;
}

static uint32_t in_flight(int of)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ENGINES * CHANNELS; ++i) {
        count += copies[i].busy && copies[i].near == of;
    }
    return count;
}

static void deliver(const struct copy *copy)
{
    for (uint32_t row = 0; row < copy->rows; ++row) {
        memcpy(copy->dst + row * copy->dst_stride, copy->src + row * copy->src_stride, copy->bytes);
    }
}

static void demand_dma_core(void)
{
    if (csr_hart() != DMA_CORE) {
        board_fail("TW7113 a core that moves no data starts or waits for a transfer", "");
    }
}

static void demand_no_copies(void)
{
    for (uint32_t i = 0; i < ENGINES * CHANNELS; ++i) {
        if (copies[i].busy) {
            board_fail("TW7108 a transfer was never waited for", "");
        }
    }
}

uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    const struct copy started = {dst, src, bytes, rows, dst_stride, src_stride, 1, near(dst) || near(src)};
    uint32_t number = 0;
    leave_program();
    demand_dma_core();
    while (number < ENGINES * CHANNELS && copies[number].busy) {
        ++number;
    }
    if (number == ENGINES * CHANNELS || in_flight(started.near) == CHANNELS) {
        board_fail("TW7103 more transfers in flight than the copy engine has channels", "");
    }
    copies[number] = started;
    if (order == BOARD_DESCENDING) {
        deliver(&started);
    }
    enter_program();
    return number;
}

void tw_rt_wait(uint32_t number)
{
    leave_program();
    demand_dma_core();
    if (number >= ENGINES * CHANNELS || !copies[number].busy) {
        board_fail("TW7107 a wait for a transfer that is not in flight", "");
    }
    if (order != BOARD_DESCENDING) {
        deliver(&copies[number]);
    }
    copies[number].busy = 0;
    enter_program();
}

/* ---- the rest of tw_rt ---- */

uint32_t tw_rt_core(void)
{
    return csr_hart();
}

uint32_t tw_rt_cores(void)
{
    return CORES;
}

int tw_rt_is_dma_core(void)
{
    return csr_hart() == DMA_CORE;
}

void tw_rt_live(void *bytes, uint32_t size)
{
    leave_program();
    memset(bytes, 0x5a, size);
    enter_program();
}

void tw_rt_dead(void *bytes, uint32_t size)
{
    leave_program();
    memset(bytes, 0xa5, size);
    enter_program();
}

void tw_rt_charge(uint32_t cycles)
{
    (void)cycles;
}

/* ---- the team ---- */

/* The stack below this function's frame is painted, and read again afterwards. */
static void work(uint32_t hart)
{
    volatile uint32_t *const bottom = (volatile uint32_t *)(board_stacks + hart * (GUARD + STACK) + GUARD);
    volatile uint32_t *word = bottom;
    uintptr_t pointer;
    uint32_t used;
    __asm__ volatile("mv %0, sp" : "=r"(pointer));
    while ((uintptr_t)word < pointer) {
        *word++ = PAINT;
    }
    enter_program();
    harts[hart].status = job();
    leave_program();
    word = bottom;
    while ((uintptr_t)word < pointer && *word == PAINT) {
        ++word;
    }
    used = (uint32_t)(pointer - (uintptr_t)word);
    if (used > harts[hart].stack_bytes) {
        harts[hart].stack_bytes = used;
    }
    __atomic_add_fetch(&left, 1u, __ATOMIC_ACQ_REL);
}

uint32_t board_stack_bytes(uint32_t hart)
{
    return harts[hart].stack_bytes;
}

void board_open_team(enum board_order wanted)
{
    order = wanted;
    FENCE();
    opened = 1u;
    board_protect(0u);
    for (uint32_t i = 1; i < TEAM; ++i) {
        wake(i);
    }
}

int board_team(int (*function)(void))
{
    job = function;
    if (order == BOARD_AT_ONCE) {
        meet(0u);
        work(0u);
        meet(0u);
    } else {
        turn = first_hart();
        wake(turn);
        SLEEP_UNTIL(turn == 0u);
        work(0u);
        pass_on(0u);
        SLEEP_UNTIL(turn == 0u);
    }
    demand_no_copies();
    for (uint32_t i = 0; i < TEAM; ++i) {
        if (harts[i].status != 0) {
            return harts[i].status;
        }
    }
    return 0;
}

void board_start(uint32_t hart)
{
    if (hart == 0u) {
        board_exit(main());
    }
    SLEEP_UNTIL(opened);
    board_protect(hart);
    for (;;) {
        if (order == BOARD_AT_ONCE) {
            meet(hart);
            work(hart);
            meet(hart);
        } else {
            SLEEP_UNTIL(turn == hart);
            work(hart);
            pass_on(hart);
        }
    }
}
