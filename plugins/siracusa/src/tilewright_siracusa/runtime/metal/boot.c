/* The controller's side: starts the cluster, hands it work, talks to the host. */
#include "siracusa.h"
#include "team.h"

#include <string.h>

#define CLUSTER_START TW_REGISTER(0x10200008u)           /* a bit per core */
#define CLUSTER_ENTRY(core) TW_REGISTER(0x10200040u + 4u * (core))
#define CLUSTER_CACHE TW_REGISTER(0x10201400u)           /* of instructions; off after reset, and four times slower */
#define STACK_PAINT 0x57AC57ACu

extern void _start(void);
extern uint32_t tw_stacks[];

struct tw_team tw_team;

static void start_cluster(void)
{
    for (uint32_t core = 0; core < TW_CORES; ++core) {
        CLUSTER_ENTRY(core) = (uint32_t)(uintptr_t)_start;
    }
    CLUSTER_CACHE = 0xFFFFFFFFu;
    CLUSTER_START = (1u << TW_CORES) - 1u;
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
    for (uint32_t core = 0; core < TW_CORES; ++core) {
        if (tw_stacks[core * (TW_STACK_BYTES / 4u)] != STACK_PAINT) {
            return TW_STACK_OVERFLOW;
        }
    }
    return tw_team.status;
}

uint32_t tw_stack_bytes(void)
{
    uint32_t most = 0;
    for (uint32_t core = 0; core < TW_CORES; ++core) {
        const uint32_t *const stack = tw_stacks + core * (TW_STACK_BYTES / 4u);
        uint32_t untouched = 0;
        while (untouched < TW_STACK_BYTES && stack[untouched / 4u] == STACK_PAINT) {
            untouched += 4u;
        }
        most = TW_STACK_BYTES - untouched > most ? TW_STACK_BYTES - untouched : most;
    }
    return most;
}

/* ---- the host ---- */

enum { SYS_WRITE0 = 0x04, SYS_EXIT = 0x18, EXIT_FINE = 0x20026, EXIT_ERROR = 0x20023 };

static void ask_host(uint32_t operation, uint32_t argument)
{
    register uint32_t a0 __asm__("a0") = operation;
    register uint32_t a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n\t.option norvc\n\t.balign 16\n\t"
                     "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
}

void tw_say(const char *text)
{
    ask_host(SYS_WRITE0, (uint32_t)(uintptr_t)text);
}

void tw_say_number(uint32_t number)
{
    char text[12];
    char *digit = text + sizeof text - 1;
    *digit = '\0';
    do {
        *--digit = (char)('0' + number % 10u);
        number /= 10u;
    } while (number);
    tw_say(digit);
}

void tw_say_bytes(const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    static char text[65]; /* stacks are small */
    const uint8_t *next = (const uint8_t *)bytes;
    while (size) {
        size_t used = 0;
        while (size && used < sizeof text - 1) {
            text[used++] = digits[*next >> 4];
            text[used++] = digits[*next++ & 15];
            --size;
        }
        text[used] = '\0';
        tw_say(text);
    }
}

void tw_exit(int status)
{
    if (status == TW_STACK_OVERFLOW) {
        tw_say("a core's stack was too small: compile with a larger --set stack=BYTES\n");
    }
    if (status == TW_SHARED_REGISTERS) {
        tw_say("the cores keep floats in the registers of integers: Siracusa does not, GVSoC's model of it did from"
               " May 2025 to June 2026: install a GVSoC from before or after\n");
    }
    ask_host(SYS_EXIT, status ? EXIT_ERROR : EXIT_FINE);
    for (;;) {
    }
}
