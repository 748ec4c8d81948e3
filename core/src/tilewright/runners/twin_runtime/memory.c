/* memory.c - arenas at the device's own addresses, what their bytes mean at the moment, and how faults are told. */
#define _GNU_SOURCE
#include "twin.h"
#include "tw_rt.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#  define WITH_ASAN 1
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define WITH_ASAN 1
#  endif
#endif
#if defined(__SANITIZE_THREAD__)
#  define WITH_TSAN 1
#elif defined(__has_feature)
#  if __has_feature(thread_sanitizer)
#    define WITH_TSAN 1
#  endif
#endif
#ifdef WITH_ASAN
#  include <sanitizer/asan_interface.h>
#  define UNSEEN __attribute__((no_sanitize("address"), noinline))
#else
#  define UNSEEN
#endif
#ifndef MAP_FIXED_NOREPLACE
#  define MAP_FIXED_NOREPLACE 0
#endif

enum { GUARD = 1 << 16, EDGE = 0xC5, DEAD_FILL = 0x5A, LIVE_FILL = 0xA5, START_FILL = 0x3C };

twin_state twin;

static const char *step_name(void)
{
    uint32_t step = twin_step_now();
    return step < twin.machine.step_count ? twin.machine.steps[step] : "none";
}

static void write_where(FILE *file)
{
    static const char *const modes[] = {"lazy", "eager", "free"};
    fprintf(file, "step '%s'", step_name());
    if (twin_self() != UINT32_MAX) {
        fprintf(file, ", core %u, cycle %llu", twin_self(), (unsigned long long)twin_now());
    }
    fprintf(file, " (seed %u, %s)\n", twin.seed, modes[twin.mode]);
}

/* To the runner, in a file: other things are said on stderr. */
void twin_fault(const char *code, const char *format, ...)
{
    va_list arguments;
    FILE *file = fopen("fault.txt", "w");
    if (file != NULL) {
        fprintf(file, "%s ", code);
        va_start(arguments, format);
        vfprintf(file, format, arguments);
        va_end(arguments);
        fputc('\n', file);
        write_where(file);
        fclose(file);
    }
    _exit(70);
}

static const twin_arena *near_to(uintptr_t address)
{
    for (uint32_t i = 0; i < twin.machine.arena_count; ++i) {
        const twin_arena *arena = &twin.machine.arenas[i];
        uintptr_t base = (uintptr_t)arena->base;
        if (address + GUARD >= base && address < base + arena->mapped + GUARD) {
            return arena;
        }
    }
    return NULL;
}

#if defined(WITH_ASAN)
static void last_words(void)
{
    FILE *file = fopen("fault.txt", "w");
    if (file != NULL) {
        write_where(file);
        fclose(file);
    }
}
#elif !defined(WITH_TSAN)
static void on_signal(int number, siginfo_t *information, void *context)
{
    uintptr_t address = (uintptr_t)information->si_addr;
    const twin_arena *arena = near_to(address);
    (void)number;
    (void)context;
    if (arena == NULL) {
        twin_fault("TW7111", "access to address 0x%llx, which is in no memory", (unsigned long long)address);
    }
    twin_fault("TW7111", "access %lld bytes from the start of '%s', which has %u",
               (long long)address - (long long)(uintptr_t)arena->base, arena->name, arena->bytes);
}
#endif

static void watch(void)
{
#if defined(WITH_ASAN)
    __asan_set_death_callback(last_words);
#elif !defined(WITH_TSAN)
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
#endif
    (void)near_to;
}

static void map_one(twin_arena *arena)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inside = (arena->bytes + page - 1u) / page * page;
    uint8_t *whole;
    if (inside == 0u) {
        inside = page;
    }
    whole = (uint8_t *)mmap((void *)(arena->address - GUARD), inside + 2u * GUARD, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (whole == MAP_FAILED) { /* taken here: anywhere else will do, except for code that relies on the address */
        whole = (uint8_t *)mmap(NULL, inside + 2u * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (whole == MAP_FAILED || mprotect(whole + GUARD, inside, PROT_READ | PROT_WRITE) != 0) {
        twin_fault("TW7100", "no room for memory '%s' of %u bytes", arena->name, arena->bytes);
    }
    arena->base = whole + GUARD;
    arena->mapped = inside;
    arena->owner = (uint16_t *)calloc(inside, sizeof *arena->owner);
    if (arena->owner == NULL) {
        twin_fault("TW7100", "no room for the marks of memory '%s'", arena->name);
    }
}

void twin_map(void)
{
    for (uint32_t i = 0; i < twin.machine.arena_count; ++i) {
        map_one(&twin.machine.arenas[i]);
    }
    watch();
}

/* Everything as before the first inference: no byte means anything. */
void twin_fill(void)
{
    for (uint32_t i = 0; i < twin.machine.arena_count; ++i) {
        twin_arena *arena = &twin.machine.arenas[i];
        if (!arena->read_only) {
            twin_unhide(arena->base, arena->mapped);
            memset(arena->base, twin_pattern(START_FILL), arena->bytes);
            memset(arena->base + arena->bytes, EDGE, arena->mapped - arena->bytes);
            memset(arena->owner, 0, arena->mapped * sizeof *arena->owner);
            twin_hide(arena->base + arena->bytes, arena->mapped - arena->bytes);
        }
    }
    for (uint32_t i = 0; i < twin.machine.tile_count; ++i) {
        const twin_tile *tile = &twin.machine.tiles[i];
        twin_arena *arena = &twin.machine.arenas[tile->arena];
        for (uint32_t k = tile->offset; k < tile->offset + tile->bytes; ++k) {
            arena->owner[k] = TWIN_DEAD;
        }
        twin_set(arena->base + tile->offset, twin_pattern(DEAD_FILL), tile->bytes);
        twin_hide(arena->base + tile->offset, tile->bytes);
    }
}

/* After the network: nothing beyond an arena's end, nothing in dead tiles. Afterwards all may be read. */
void twin_check_edges(void)
{
    for (uint32_t i = 0; i < twin.machine.arena_count; ++i) {
        twin_arena *arena = &twin.machine.arenas[i];
        if (!arena->read_only) {
            twin_unhide(arena->base, arena->mapped);
            for (size_t k = arena->bytes; k < arena->mapped; ++k) {
                if (arena->base[k] != EDGE) {
                    twin_fault("TW7110", "byte %zu of '%s' was written, which has %u", k, arena->name, arena->bytes);
                }
            }
            for (size_t k = 0; k < arena->bytes; ++k) {
                if (arena->owner[k] == TWIN_DEAD && arena->base[k] != twin_pattern(DEAD_FILL)) {
                    twin_fault("TW7110", "byte %zu of '%s' was written while no tile lived there", k, arena->name);
                }
            }
        }
    }
}

/* From here on constants cannot be written. */
void twin_protect(void)
{
    for (uint32_t i = 0; i < twin.machine.arena_count; ++i) {
        twin_arena *arena = &twin.machine.arenas[i];
        if (arena->read_only) {
            mprotect(arena->base, arena->mapped, PROT_READ);
        }
    }
}

/* The arena that all these bytes are in. */
twin_arena *twin_arena_of(const void *bytes, size_t size)
{
    uintptr_t start = (uintptr_t)bytes;
    for (uint32_t i = 0; i < twin.machine.arena_count; ++i) {
        twin_arena *arena = &twin.machine.arenas[i];
        uintptr_t base = (uintptr_t)arena->base;
        if (start >= base && start - base <= arena->bytes && size <= arena->bytes - (start - base)) {
            return arena;
        }
    }
    return NULL;
}

void twin_hide(const void *bytes, size_t size)
{
#ifdef WITH_ASAN
    __asan_poison_memory_region(bytes, size);
#else
    (void)bytes;
    (void)size;
#endif
}

void twin_unhide(const void *bytes, size_t size)
{
#ifdef WITH_ASAN
    __asan_unpoison_memory_region(bytes, size);
#else
    (void)bytes;
    (void)size;
#endif
}

UNSEEN void twin_move(void *target, const void *source, size_t size)
{
#ifdef WITH_ASAN
    volatile uint8_t *to = (volatile uint8_t *)target;
    const volatile uint8_t *from = (const volatile uint8_t *)source;
    for (size_t i = 0; i < size; ++i) {
        to[i] = from[i];
    }
#else
    memcpy(target, source, size);
#endif
}

UNSEEN int twin_equal(const void *one, const void *other, size_t size)
{
#ifdef WITH_ASAN
    const volatile uint8_t *left = (const volatile uint8_t *)one;
    const volatile uint8_t *right = (const volatile uint8_t *)other;
    for (size_t i = 0; i < size; ++i) {
        if (left[i] != right[i]) {
            return 0;
        }
    }
    return 1;
#else
    return memcmp(one, other, size) == 0;
#endif
}

UNSEEN void twin_set(void *target, uint8_t value, size_t size)
{
#ifdef WITH_ASAN
    volatile uint8_t *to = (volatile uint8_t *)target;
    for (size_t i = 0; i < size; ++i) {
        to[i] = value;
    }
#else
    memset(target, value, size);
#endif
}

UNSEEN int twin_holds(const void *bytes, uint8_t value, size_t size)
{
    const volatile uint8_t *from = (const volatile uint8_t *)bytes;
    for (size_t i = 0; i < size; ++i) {
        if (from[i] != value) {
            return 0;
        }
    }
    return 1;
}

/* Whoever computes with bytes that mean nothing gets another result in every run. */
uint8_t twin_pattern(uint8_t base)
{
    return (uint8_t)(base + 37u * twin.seed + 11u * (uint32_t)twin.mode);
}

static twin_arena *declared(const void *bytes, uint32_t size, const char *what)
{
    twin_arena *arena = twin_arena_of(bytes, size);
    if (arena == NULL) {
        twin_fault("TW7101", "%u bytes declared %s at %p are in no memory", size, what, bytes);
    }
    return arena;
}

void tw_rt_live(void *bytes, uint32_t size)
{
    static uint16_t last = TWIN_DEAD;
    twin_arena *arena = declared(bytes, size, "live");
    size_t start = (size_t)((uint8_t *)bytes - arena->base);
    twin_lock();
    for (size_t k = start; k < start + size; ++k) {
        if (arena->owner[k] > TWIN_DEAD) {
            twin_fault("TW7114", "%u bytes at byte %zu of '%s' are declared live, but a tile lives at byte %zu", size,
                       start, arena->name, k);
        }
        if (arena->owner[k] == TWIN_DEAD && !twin_holds(arena->base + k, twin_pattern(DEAD_FILL), 1u)) {
            twin_fault("TW7110", "byte %zu of '%s' was written while no tile lived there", k, arena->name);
        }
    }
    last = last == UINT16_MAX ? TWIN_DEAD + 1u : (uint16_t)(last + 1u);
    for (size_t k = start; k < start + size; ++k) {
        arena->owner[k] = last;
    }
    twin_unhide(bytes, size);
    memset(bytes, twin_pattern(LIVE_FILL), size);
    twin_event("M %u %llu %lld\n", arena->memory, (unsigned long long)twin_now(), (long long)size);
    twin_unlock();
}

void tw_rt_dead(void *bytes, uint32_t size)
{
    twin_arena *arena = declared(bytes, size, "dead");
    size_t start = (size_t)((uint8_t *)bytes - arena->base);
    twin_lock();
    twin_demand_unowned(bytes, size, 1, "a tile that is declared dead");
    for (size_t k = start; k < start + size; ++k) {
        if (arena->owner[k] != arena->owner[start] || arena->owner[k] <= TWIN_DEAD) {
            twin_fault("TW7114", "%u bytes at byte %zu of '%s' are declared dead, but no one tile of that size lives there",
                       size, start, arena->name);
        }
    }
    if ((start && arena->owner[start - 1u] == arena->owner[start]) ||
        (start + size < arena->bytes && arena->owner[start + size] == arena->owner[start])) {
        twin_fault("TW7114", "%u bytes at byte %zu of '%s' are declared dead, a part of a larger tile", size, start,
                   arena->name);
    }
    for (size_t k = start; k < start + size; ++k) {
        arena->owner[k] = TWIN_DEAD;
    }
    memset(bytes, twin_pattern(DEAD_FILL), size);
    twin_hide(bytes, size);
    twin_event("M %u %llu %lld\n", arena->memory, (unsigned long long)twin_now(), -(long long)size);
    twin_unlock();
}
