/* Knows what the search knows at one moment, and which moments are known to fail. As `state.py`, field by field.
   Does not know rules or choices. */
#ifndef TILEWRIGHT_STATE_H
#define TILEWRIGHT_STATE_H

#include "module.h"
#include <string.h>

enum { SOLVED, FAILED, STOPPED };
enum { FEWEST, WEIGHTED, LOWEST };
enum { MOST_REMEMBERED = 1 << 22, MOST_LEVELS = 4096, WORDS = MOST_LEVELS / 64 };

typedef struct { uint64_t a, b; } Key;
typedef struct { int32_t begin, end; Key key; } Part;         /* sections [begin, end) and the state of their blocks */
typedef struct { int32_t what, options; int64_t value; } Old; /* a block's lowest offset; -1 - section: its floor */
typedef struct {
    Part part;
    Key remembered;
    int32_t section, placed; /* placed: the block at the floor, or -1 for the branch that wastes it */
    int32_t first_option, options, option;
    int32_t first_part, parts, current;
    int64_t trail;
} Frame;
typedef struct { void *items; int64_t count, room; } Stack;

typedef struct {
    int32_t blocks, sections, linear;
    int64_t capacity;
    int64_t *size, *align, *low, *offset;
    int32_t *section_at, *section_of;     /* block -> its sections, ascending */
    int32_t *member_at, *member, *sorted; /* section -> its blocks, ascending; and the same by lowest offset */
    int32_t *neighbour_at, *neighbour;
    int32_t *obstacle_at;
    int64_t *obstacle; /* block -> byte ranges where it may not be */
    int32_t *first, *last, *starting_at, *starting;
    int32_t *twin, *rank;
    char *placed, *queued, *wasted, *reach, *back;
    int64_t *floor, *rest, *failures, *lows, *tops;
    int32_t *options, *open, *cuts, *queue, *scratch;
    int32_t queue_head, queue_count;
    Key key;
    Key *memo;
    int64_t memo_count, memo_room;
    Stack trail, frames, choices, parts;
    int64_t nodes, limit;
    int64_t allowance;
    int selector, out_of_memory;
} Search;

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

static Key term(int32_t block, int64_t offset) {
    uint64_t a = mix((uint64_t)offset + 0x9e3779b97f4a7c15ULL * (uint64_t)(block + 1));
    return (Key){a, mix(a + 0xd1b54a32d192ed03ULL)};
}

static void flip(Key *key, Key with) {
    key->a ^= with.a;
    key->b ^= with.b;
}

static void *pushed(Search *s, Stack *stack, size_t width) {
    if (stack->count == stack->room) {
        int64_t room = stack->room ? 2 * stack->room : 256;
        void *grown = realloc(stack->items, (size_t)room * width);
        if (!grown) {
            s->out_of_memory = 1;
            stack->count = 0; /* there is room for at least one, or the caller stops */
            return stack->items;
        }
        stack->items = grown;
        stack->room = room;
    }
    return (char *)stack->items + (size_t)(stack->count++) * width;
}

/* --- states that have no solution --- */

static int64_t slot_of(const Search *s, Key key) {
    int64_t slot = (int64_t)(key.a & (uint64_t)(s->memo_room - 1));
    while ((s->memo[slot].a || s->memo[slot].b) && (s->memo[slot].a != key.a || s->memo[slot].b != key.b))
        slot = (slot + 1) & (s->memo_room - 1);
    return slot;
}

static int is_remembered(const Search *s, Key key) {
    return s->memo_room && (key.a || key.b) && s->memo[slot_of(s, key)].a == key.a && s->memo[slot_of(s, key)].b == key.b;
}

static void remember(Search *s, Key key) {
    if (s->memo_count >= MOST_REMEMBERED || !(key.a || key.b)) return;
    if (2 * s->memo_count >= s->memo_room) {
        Key *old = s->memo;
        int64_t old_room = s->memo_room, room = old_room ? 2 * old_room : 1024;
        Key *grown = calloc((size_t)room, sizeof *grown);
        if (!grown) return;
        s->memo = grown;
        s->memo_room = room;
        for (int64_t slot = 0; slot < old_room; slot++)
            if (old[slot].a || old[slot].b) s->memo[slot_of(s, old[slot])] = old[slot];
        free(old);
    }
    int64_t slot = slot_of(s, key);
    if (!(s->memo[slot].a || s->memo[slot].b)) s->memo_count++;
    s->memo[slot] = key;
}

/* --- what follows from a choice --- */

static void touch(Search *s, int32_t section) {
    if (s->queued[section]) return;
    s->queued[section] = 1;
    s->queue[(s->queue_head + s->queue_count++) % s->sections] = section;
}

static void touch_all(Search *s, int32_t block) {
    for (int32_t at = s->section_at[block]; at < s->section_at[block + 1]; at++) touch(s, s->section_of[at]);
}

static int64_t clear_from(const Search *s, int32_t block, int64_t offset) {
    int64_t align = s->align[block], size = s->size[block];
    offset = (offset + align - 1) / align * align;
    for (int32_t at = s->obstacle_at[block]; at < s->obstacle_at[block + 1]; at++)
        if (offset < s->obstacle[2 * at + 1] && s->obstacle[2 * at] < offset + size)
            offset = (s->obstacle[2 * at + 1] + align - 1) / align * align;
    return offset;
}

static int lift(Search *s, int32_t block, int64_t to) {
    int64_t offset = clear_from(s, block, to);
    if (offset + s->size[block] > s->capacity) return 0;
    *(Old *)pushed(s, &s->trail, sizeof(Old)) = (Old){block, 0, s->low[block]};
    flip(&s->key, term(block, s->low[block]));
    flip(&s->key, term(block, offset));
    for (int32_t at = s->section_at[block]; at < s->section_at[block + 1]; at++) {
        int32_t section = s->section_of[at];
        if (s->low[block] <= s->floor[section] || offset + s->rest[section] > s->capacity) touch(s, section);
    }
    s->low[block] = offset;
    return 1;
}

#endif
