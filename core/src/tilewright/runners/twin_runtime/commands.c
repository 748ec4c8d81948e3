/* commands.c - what an engine finds by commands is what its kernel's operands are: all other bytes are hidden meanwhile. */
#include "twin.h"
#include "tw_rt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HIDDEN_FILL = 0xFE }; /* the same in every run: wrong results are blamed on the step, not on the order of things */

/* Of one memory: what was there, and which of its bytes commands may name. */
typedef struct {
    uint8_t *kept;
    uint8_t *named;
} hidden;

static hidden *memories; /* NULL while nothing is hidden */

static void name_run(const uint8_t *run, size_t size)
{
    const twin_arena *arena = size ? twin_arena_of(run, size) : NULL;
    if (arena != NULL) { /* else it is the caller's */
        memset(memories[arena - twin.machine.arenas].named + (run - arena->base), 1, size);
    }
}

/* Every element of a window. */
static void name_window(const tw_rt_window *window)
{
    size_t count = 1u;
    for (int32_t i = 0; i < window->axes; ++i) {
        count *= (size_t)window->extents[i];
    }
    for (size_t k = 0; k < count; ++k) {
        size_t index = k, at = 0u;
        for (int32_t i = window->axes - 1; i >= 0; --i) {
            at += index % (size_t)window->extents[i] * (size_t)window->strides[i];
            index /= (size_t)window->extents[i];
        }
        name_run(window->bytes + at * window->item, window->item);
    }
}

static void *room(size_t bytes)
{
    void *const made = calloc(bytes + 1u, 1u);
    if (made == NULL) {
        twin_fault("TW7100", "no room to hide what commands do not name");
    }
    return made;
}

static void hide(const tw_rt_window *windows, uint32_t count)
{
    memories = (hidden *)room(twin.machine.arena_count * sizeof *memories);
    for (uint32_t i = 0; i < twin.machine.arena_count; ++i) {
        memories[i].kept = (uint8_t *)room(twin.machine.arenas[i].bytes);
        memories[i].named = (uint8_t *)room(twin.machine.arenas[i].bytes);
    }
    for (uint32_t i = 0; i < count; ++i) {
        name_window(&windows[i]);
    }
    for (uint32_t i = 0; i < twin.machine.arena_count; ++i) {
        twin_arena *const arena = &twin.machine.arenas[i];
        if (arena->read_only) {
            mprotect(arena->base, arena->mapped, PROT_READ | PROT_WRITE);
        }
        twin_move(memories[i].kept, arena->base, arena->bytes);
        for (size_t k = 0; k < arena->bytes; ++k) {
            if (!memories[i].named[k]) {
                twin_set(arena->base + k, HIDDEN_FILL, 1u);
            }
        }
        if (arena->read_only) {
            mprotect(arena->base, arena->mapped, PROT_READ);
        }
    }
}

static void show(const char *kernel)
{
    for (uint32_t i = 0; i < twin.machine.arena_count; ++i) {
        twin_arena *const arena = &twin.machine.arenas[i];
        if (arena->read_only) {
            mprotect(arena->base, arena->mapped, PROT_READ | PROT_WRITE);
        }
        for (size_t k = 0; k < arena->bytes; ++k) {
            if (!memories[i].named[k]) {
                if (!twin_holds(arena->base + k, HIDDEN_FILL, 1u)) {
                    twin_fault("TW7044", "commands of kernel '%s' name byte %zu of '%s', which is of none of its operands",
                               kernel, k, arena->name);
                }
                twin_move(arena->base + k, memories[i].kept + k, 1u);
            }
        }
        if (arena->read_only) {
            mprotect(arena->base, arena->mapped, PROT_READ);
        }
        free(memories[i].kept);
        free(memories[i].named);
    }
    free(memories);
    memories = NULL;
}

void tw_rt_engine_names(const char *kernel, const tw_rt_window *windows, uint32_t count)
{
    if (twin.mode == TWIN_FREE) { /* other cores see the same bytes at the same time */
        return;
    }
    if (count) {
        hide(windows, count);
    } else {
        show(kernel);
    }
}
