/* Knows the exact search of `search.py` in C: the same branches, the same order, the same number of nodes.
   Does not know problems, orders or restarts; those are Python's. The reasons for each rule are in `search.py`. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SOLVED, FAILED, STOPPED };
enum { FEWEST, WEIGHTED, LOWEST };
enum { SIGNALS_EVERY = 1024, MOST_REMEMBERED = 1 << 22, MOST_LEVELS = 4096, WORDS = MOST_LEVELS / 64 };

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

/* The offset that `block` has at least if it is not at its lowest: something must be in its way there. */
static int64_t resting(const Search *s, int32_t block, const char *wasted) {
    int64_t floor = s->low[block], top = floor + s->size[block], lowest = INT64_MAX;
    for (int32_t at = s->neighbour_at[block]; at < s->neighbour_at[block + 1]; at++) {
        int32_t other = s->neighbour[at];
        if (s->placed[other]) continue;
        int64_t from = s->low[other];
        if (from == floor && wasted && wasted[other]) from = floor + 1;
        if (from < top && from + s->size[other] < lowest) lowest = from + s->size[other];
    }
    return lowest;
}

/* The open blocks of a section by lowest offset, in `sorted` and, with that offset, in `lows`. */
static int32_t sort_by_low(Search *s, int32_t section) {
    int32_t *list = s->sorted + s->member_at[section], count = s->open[section], open = 0;
    int64_t *lows = s->lows;
    for (int32_t at = 0; open < count; at++) {
        int32_t block = list[at];
        if (s->placed[block]) continue;
        int64_t low = s->low[block];
        int32_t hole = at;
        for (; hole > open; hole--) list[hole] = list[hole - 1]; /* a placed one goes behind */
        for (; hole > 0 && (lows[hole - 1] > low || (lows[hole - 1] == low && list[hole - 1] > block)); hole--) {
            lows[hole] = lows[hole - 1];
            list[hole] = list[hole - 1];
        }
        lows[hole] = low;
        list[hole] = block;
        open++;
    }
    return open;
}

/* In a section without slack everything stands on something: a height is reached only by whole blocks. */
static int lift_to_sums(Search *s, int32_t section, int32_t open) {
    const int32_t *list = s->sorted + s->member_at[section];
    int64_t floor = s->floor[section], height = s->capacity - floor;
    int32_t words = (int32_t)(height / 64 + 1), added = 0;
    uint64_t sums[WORDS + 1];
    int32_t *by_top = s->scratch;
    int64_t *tops = s->tops;
    for (int32_t at = 0; at < open; at++) {
        int32_t hole = at;
        int64_t top = s->lows[at] + s->size[list[at]];
        for (; hole > 0 && tops[hole - 1] > top; hole--) {
            tops[hole] = tops[hole - 1];
            by_top[hole] = by_top[hole - 1];
        }
        tops[hole] = top;
        by_top[hole] = list[at];
    }
    memset(sums, 0, (size_t)words * sizeof *sums);
    sums[0] = 1;
    for (int32_t at = 0; at < open; at++) {
        int32_t block = list[at];
        int64_t low = s->lows[at], wanted = low - floor;
        if ((int64_t)1 << added > height) break;
        if (wanted == 0) continue;
        for (;;) {
            while (added < open && tops[added] <= wanted + floor) {
                int64_t shift = s->size[by_top[added]];
                int32_t whole = (int32_t)(shift / 64), part = (int32_t)(shift % 64);
                for (int32_t word = words - 1; word >= whole; word--) {
                    uint64_t moved = sums[word - whole] << part;
                    if (part && word > whole) moved |= sums[word - whole - 1] >> (64 - part);
                    sums[word] |= moved;
                }
                added++;
            }
            int64_t next = added < open ? tops[added] - floor : height;
            while (wanted < next && !(sums[wanted / 64] >> (wanted % 64) & 1)) wanted++;
            if (wanted < next || added == open) break;
        }
        if (wanted >= height) return 0;
        if (wanted + floor == low) continue;
        if (!lift(s, block, wanted + floor)) return 0;
        int32_t at_top = added;
        int64_t top = s->low[block] + s->size[block];
        while (at_top < open && by_top[at_top] != block) at_top++;
        if (at_top == open) continue; /* it stands on itself: the sums are too many, which does no harm */
        for (; at_top + 1 < open && tops[at_top + 1] < top; at_top++) {
            tops[at_top] = tops[at_top + 1];
            by_top[at_top] = by_top[at_top + 1];
        }
        tops[at_top] = top;
        by_top[at_top] = block;

    }
    return 1;
}

static void set_floor(Search *s, int32_t section, int64_t floor, int32_t options) {
    if (floor == s->floor[section] && options == s->options[section]) return;
    *(Old *)pushed(s, &s->trail, sizeof(Old)) = (Old){-1 - section, s->options[section], s->floor[section]};
    s->floor[section] = floor;
    s->options[section] = options;
}

static int tighten(Search *s, int32_t section) {
    int64_t floor = INT64_MAX, highest = 0, late = 0, room = s->capacity - s->rest[section];
    int32_t options = 0, open = 0;
    const int32_t *list = s->sorted + s->member_at[section]; /* the open ones are in front, mostly */
    if (!s->open[section]) return 1;
    for (int32_t left = s->open[section]; left; list++) {
        int32_t block = *list;
        if (s->placed[block]) continue;
        left--;
        int64_t low = s->low[block];
        if (low < floor) {
            floor = low;
            options = 0;
        }
        options += low == floor;
        if (low > highest) highest = low;
        if (low > room) late += s->size[block];
    }
    if (floor > room) return 0;
    set_floor(s, section, floor, options);
    if (!late) return 1;
    if (highest + late > s->capacity) {
        open = sort_by_low(s, section);
        list = s->sorted + s->member_at[section];
        late = 0;
        for (int32_t at = open; at-- > 0 && s->lows[at] > room;) {
            late += s->size[list[at]];
            if (s->lows[at] + late > s->capacity) return 0;
        }
    }
    if (floor < room || s->capacity - floor >= MOST_LEVELS || s->allowance-- <= 0) return 1;
    return lift_to_sums(s, section, open ? open : sort_by_low(s, section));
}

static int32_t popped(Search *s) {
    int32_t section = s->queue[s->queue_head];
    s->queue_head = (s->queue_head + 1) % s->sections;
    s->queue_count--;
    s->queued[section] = 0;
    return section;
}

static void drop_queue(Search *s) {
    while (s->queue_count) (void)popped(s);
}

static int settle(Search *s) {
    while (s->queue_count) {
        int32_t section = popped(s);
        if (!tighten(s, section)) {
            s->failures[section]++;
            return 0;
        }
    }
    return 1;
}

/* A run of equal floors between higher ones is tiled by blocks that are at it; those in no tiling are lifted. */
static int tile_niche(Search *s, int32_t begin, int32_t end) {
    int64_t floor = s->floor[begin];
    memset(s->reach + begin, 0, (size_t)(end - begin + 1));
    memset(s->back + begin, 0, (size_t)(end - begin + 1));
    s->reach[begin] = s->back[end] = 1;
    for (int32_t section = begin; section < end; section++) {
        if (!s->reach[section]) continue;
        if (floor + s->rest[section] < s->capacity) s->reach[section + 1] = 1;
        for (int32_t at = s->starting_at[section]; at < s->starting_at[section + 1]; at++) {
            int32_t block = s->starting[at];
            if (!s->placed[block] && s->low[block] == floor) s->reach[s->last[block] + 1] = 1;
        }
    }
    if (!s->reach[end]) {
        s->failures[begin]++;
        return 0;
    }
    for (int32_t section = end - 1; section >= begin; section--) {
        if (floor + s->rest[section] < s->capacity && s->back[section + 1]) s->back[section] = 1;
        for (int32_t at = s->starting_at[section]; at < s->starting_at[section + 1] && !s->back[section]; at++) {
            int32_t block = s->starting[at];
            if (!s->placed[block] && s->low[block] == floor && s->back[s->last[block] + 1]) s->back[section] = 1;
        }
    }
    for (int32_t section = begin; section < end; section++)
        for (int32_t at = s->starting_at[section]; at < s->starting_at[section + 1]; at++) {
            int32_t block = s->starting[at];
            if (s->placed[block] || s->low[block] != floor) continue;
            if (s->reach[section] && s->back[s->last[block] + 1]) continue;
            int64_t to = resting(s, block, NULL);
            if (to == INT64_MAX || !lift(s, block, to)) {
                s->failures[section]++;
                return 0;
            }
        }
    return 1;
}

static int tile(Search *s, int32_t begin, int32_t end) {
    for (int32_t left = begin; left < end;) {
        int32_t right = left + 1;
        if (!s->rest[left]) {
            left++;
            continue;
        }
        while (right < end && s->rest[right] && s->floor[right] == s->floor[left]) right++;
        int higher_left = left == begin || !s->rest[left - 1] || s->floor[left - 1] > s->floor[left];
        int higher_right = right == end || !s->rest[right] || s->floor[right] > s->floor[left];
        if (higher_left && higher_right && !tile_niche(s, left, right)) return 0;
        left = right;
    }
    return 1;
}

static int propagate(Search *s, int32_t begin, int32_t end) {
    s->allowance = end - begin;
    int fine = settle(s);
    while (fine && s->linear) {
        fine = tile(s, begin, end);
        if (!s->queue_count) break;
        fine = fine && settle(s);
    }
    drop_queue(s);
    return fine;
}

/* --- choices --- */

static int is_eligible(const Search *s, int32_t section) {
    for (int32_t at = s->member_at[section]; at < s->member_at[section + 1]; at++) {
        int32_t block = s->member[at];
        if (s->placed[block] || s->low[block] > s->floor[section]) continue;
        for (int32_t of = s->section_at[block]; of < s->section_at[block + 1]; of++)
            if (s->floor[s->section_of[of]] < s->floor[section]) return 0;
    }
    return 1;
}

static int64_t best_rank(const Search *s, int32_t section) {
    int32_t best = INT32_MAX;
    for (int32_t at = s->member_at[section]; at < s->member_at[section + 1]; at++) {
        int32_t block = s->member[at];
        if (!s->placed[block] && s->low[block] == s->floor[section] && s->rank[block] < best) best = s->rank[block];
    }
    return best;
}

static int32_t chosen_section(const Search *s, int32_t begin, int32_t end) {
    int32_t best = -1;
    int64_t best_score = INT64_MAX, best_floor = INT64_MAX;
    for (int32_t section = begin; section < end; section++) {
        int64_t floor = s->floor[section], score;
        if (!s->rest[section] || (s->selector == LOWEST && floor > best_floor)) continue;
        if (s->selector == LOWEST) {
            score = best_rank(s, section);
            if (floor == best_floor && score >= best_score) continue;
        } else {
            int slack = s->capacity - floor - s->rest[section] > 0;
            score = (4 * (int64_t)s->options[section] + 3 * slack) * 4096;
            if (s->selector == WEIGHTED) score /= 1 + s->failures[section];
            if (score > best_score || (score == best_score && floor >= best_floor)) continue;
        }
        if (!is_eligible(s, section)) continue;
        best = section;
        best_score = score;
        best_floor = floor;
    }
    return best;
}

static void push_options(Search *s, Frame *frame) {
    int32_t section = frame->section;
    frame->first_option = (int32_t)s->choices.count;
    for (int32_t at = s->member_at[section]; at < s->member_at[section + 1]; at++) {
        int32_t block = s->member[at], twin = 0;
        if (s->placed[block] || s->low[block] > s->floor[section]) continue;
        int32_t *list = (int32_t *)s->choices.items + frame->first_option;
        int32_t count = (int32_t)s->choices.count - frame->first_option;
        for (int32_t other = 0; other < count; other++) twin |= s->twin[list[other]] == s->twin[block];
        if (twin) continue;
        (void)pushed(s, &s->choices, sizeof(int32_t));
        if (s->out_of_memory) return;
        list = (int32_t *)s->choices.items + frame->first_option;
        for (; count > 0 && s->rank[list[count - 1]] > s->rank[block]; count--) list[count] = list[count - 1];
        list[count] = block;
    }
    frame->options = (int32_t)s->choices.count - frame->first_option;
    frame->option = 0;
}

static int place(Search *s, int32_t block, int64_t floor) {
    int64_t top = floor + s->size[block];
    s->offset[block] = floor;
    s->placed[block] = 1;
    flip(&s->key, term(block, s->low[block]));
    for (int32_t at = s->section_at[block]; at < s->section_at[block + 1]; at++) {
        s->rest[s->section_of[at]] -= s->size[block];
        s->open[s->section_of[at]]--;
    }
    for (int32_t cut = s->first[block]; cut < s->last[block]; cut++) s->cuts[cut]--;
    touch_all(s, block);
    for (int32_t at = s->neighbour_at[block]; at < s->neighbour_at[block + 1]; at++) {
        int32_t other = s->neighbour[at];
        if (!s->placed[other] && s->low[other] < top && !lift(s, other, top)) return 0;
    }
    return 1;
}

static int waste(Search *s, int32_t section) {
    int64_t floor = s->floor[section];
    int fine = s->capacity - floor - s->rest[section] > 0;
    char *wasted = s->wasted;
    if (!fine) return 0;
    for (int32_t at = s->member_at[section]; at < s->member_at[section + 1]; at++)
        wasted[s->member[at]] = 1;
    for (int32_t at = s->member_at[section]; fine && at < s->member_at[section + 1]; at++) {
        int32_t block = s->member[at];
        if (s->placed[block] || s->low[block] != floor) continue;
        int64_t to = resting(s, block, wasted);
        fine = to != INT64_MAX && lift(s, block, to);
    }
    for (int32_t at = s->member_at[section]; at < s->member_at[section + 1]; at++)
        wasted[s->member[at]] = 0;
    return fine;
}

static void undo(Search *s, Frame *frame) {
    while (s->trail.count > frame->trail) {
        Old *old = (Old *)s->trail.items + --s->trail.count;
        if (old->what >= 0) {
            s->low[old->what] = old->value;
        } else {
            s->floor[-1 - old->what] = old->value;
            s->options[-1 - old->what] = old->options;
        }
    }
    int32_t block = frame->placed;
    if (block >= 0) {
        for (int32_t at = s->section_at[block]; at < s->section_at[block + 1]; at++) {
            s->rest[s->section_of[at]] += s->size[block];
            s->open[s->section_of[at]]++;
        }
        for (int32_t cut = s->first[block]; cut < s->last[block]; cut++) s->cuts[cut]++;
        s->placed[block] = 0;
        frame->placed = -1;
    }
    s->parts.count = frame->first_part;
    s->key = frame->part.key;
}

static void push_part(Search *s, int32_t begin, int32_t end) {
    Part part = {begin, end, {0, 0}};
    int32_t open = 0;
    for (int32_t at = s->starting_at[begin]; at < s->starting_at[end]; at++) {
        int32_t block = s->starting[at];
        if (s->placed[block]) continue;
        flip(&part.key, term(block, s->low[block]));
        open++;
    }
    if (open) *(Part *)pushed(s, &s->parts, sizeof(Part)) = part;
}

/* What is left falls apart where no open block crosses from one section to the next. */
static void push_parts(Search *s, Frame *frame) {
    int32_t begin = frame->part.begin, block = frame->placed, cut = 0;
    for (int32_t at = block < 0 ? 0 : s->first[block]; block >= 0 && at < s->last[block]; at++) cut += !s->cuts[at];
    if (!cut && (s->key.a || s->key.b)) {
        *(Part *)pushed(s, &s->parts, sizeof(Part)) = (Part){begin, frame->part.end, s->key};
    } else if (cut) {
        for (int32_t at = s->first[block]; at < s->last[block]; at++)
            if (!s->cuts[at]) {
                push_part(s, begin, at + 1);
                begin = at + 1;
            }
        push_part(s, begin, frame->part.end);
    }
    frame->parts = (int32_t)s->parts.count - frame->first_part;
    frame->current = 0;
}

/* The next branch of the frame that survives what follows from it. */
static int advance(Search *s, Frame *frame) {
    while (frame->option <= frame->options && !s->out_of_memory) {
        int32_t option = frame->option++;
        int fine;
        undo(s, frame);
        int64_t floor = s->floor[frame->section];
        if (option < frame->options) {
            frame->placed = ((int32_t *)s->choices.items)[frame->first_option + option];
            fine = place(s, frame->placed, floor);
        } else {
            fine = waste(s, frame->section);
        }
        if (!fine) {
            s->failures[frame->section]++;
            drop_queue(s);
            continue;
        }
        if (!propagate(s, frame->part.begin, frame->part.end)) continue;
        push_parts(s, frame);
        return 1;
    }
    return 0;
}

static int is_alone(const Search *s, int32_t block) {
    for (int32_t at = s->section_at[block]; at < s->section_at[block + 1]; at++)
        if (s->rest[s->section_of[at]]) return 0;
    return 1;
}

static Frame *top_frame(Search *s) { return (Frame *)s->frames.items + s->frames.count - 1; }

/* SOLVED or FAILED at once, or -1: a frame was pushed. */
static int enter(Search *s, Part part) {
    if (is_remembered(s, part.key)) return FAILED;
    s->key = part.key;
    int32_t section = chosen_section(s, part.begin, part.end);
    if (section < 0) return SOLVED;
    Frame *frame = pushed(s, &s->frames, sizeof(Frame));
    if (s->out_of_memory) return FAILED;
    *frame = (Frame){.part = part, .section = section, .placed = -1, .trail = s->trail.count};
    frame->first_part = (int32_t)s->parts.count;
    push_options(s, frame);
    return -1;
}

static void leave(Search *s) {
    Frame *frame = top_frame(s);
    undo(s, frame);
    s->choices.count = frame->first_option;
    s->frames.count--;
}

static int explore(Search *s, Part root) {
    int result = -1;
    Part next = root;
    for (;;) {
        if (s->nodes >= s->limit || s->out_of_memory) return STOPPED;
        if (++s->nodes % SIGNALS_EVERY == 0 && PyErr_CheckSignals()) return STOPPED;
        result = enter(s, next);
        for (;;) {
            if (s->out_of_memory) return STOPPED;
            if (result == -1) {
                result = advance(s, top_frame(s)) ? SOLVED : FAILED;
                if (s->out_of_memory) return STOPPED;
                if (result == SOLVED && top_frame(s)->parts) break;
                if (result == FAILED) remember(s, top_frame(s)->part.key);
                leave(s);
            }
            if (!s->frames.count) return result;
            Frame *frame = top_frame(s);
            if (result == SOLVED && ++frame->current < frame->parts) break;
            if (result == SOLVED) {
                leave(s);
            } else if (frame->placed >= 0 && is_alone(s, frame->placed)) {
                remember(s, frame->part.key);
                leave(s);
            } else {
                result = -1;
            }
        }
        Frame *frame = top_frame(s);
        next = ((Part *)s->parts.items)[frame->first_part + frame->current];
    }
}

static int solve(Search *s) {
    for (s->frames.count = 0; s->parts.count;) {
        int result = explore(s, ((Part *)s->parts.items)[s->parts.count - 1]);
        while (s->frames.count) leave(s);
        if (result != SOLVED) return result;
        s->parts.count--;
    }
    return SOLVED;
}

/* What holds before the first choice; it is never undone. */
static int open_root(Search *s) {
    for (int32_t block = 0; block < s->blocks; block++) {
        s->low[block] = clear_from(s, block, 0);
        if (s->low[block] + s->size[block] > s->capacity) return 0;
        touch_all(s, block);
    }
    return propagate(s, 0, s->sections);
}

static void push_root(Search *s) {
    int32_t begin = 0;
    s->trail.count = s->parts.count = s->choices.count = 0;
    for (int32_t section = 0; section < s->sections; section++)
        if (section + 1 == s->sections || !s->cuts[section]) {
            push_part(s, begin, section + 1);
            begin = section + 1;
        }
}

/* --- from Python: int64 arrays as bytes --- */

static void destroy(Search *s) {
    void *owned[] = {s->size, s->align, s->low, s->offset, s->section_at, s->section_of, s->member_at, s->member,
                     s->sorted, s->neighbour_at, s->neighbour, s->obstacle_at, s->obstacle, s->first, s->last,
                     s->starting_at, s->starting, s->twin, s->rank, s->placed, s->queued, s->wasted, s->reach, s->back,
                     s->floor, s->rest, s->failures, s->options, s->open, s->cuts, s->queue, s->scratch, s->lows, s->tops, s->memo,
                     s->trail.items, s->frames.items, s->choices.items, s->parts.items};
    for (size_t at = 0; at < sizeof owned / sizeof *owned; at++) free(owned[at]);
    free(s);
}

static void destroy_capsule(PyObject *capsule) { destroy(PyCapsule_GetPointer(capsule, "tilewright_minimalloc.search")); }

static void *room_for(Search *s, int64_t count, size_t width) {
    void *items = calloc((size_t)count + 1, width);
    if (!items) s->out_of_memory = 1;
    return items;
}

static int64_t *longs(Search *s, const int64_t *from, int64_t count) {
    int64_t *items = room_for(s, count, sizeof *items);
    if (items && count) memcpy(items, from, (size_t)count * sizeof *items);
    return items;
}

static int32_t *ints(Search *s, const int64_t *from, int64_t count) {
    int32_t *items = room_for(s, count, sizeof *items);
    for (int64_t at = 0; items && from && at < count; at++) items[at] = (int32_t)from[at];
    return items;
}

static void find_members(Search *s, const int64_t *section_at) {
    int32_t *at = ints(s, NULL, s->sections + 1);
    s->member_at = ints(s, NULL, s->sections + 1);
    s->member = ints(s, NULL, section_at[s->blocks]);
    s->sorted = ints(s, NULL, section_at[s->blocks]);
    if (s->out_of_memory) {
        free(at);
        return;
    }
    for (int64_t of = 0; of < section_at[s->blocks]; of++) s->member_at[s->section_of[of] + 1]++;
    for (int32_t section = 0; section < s->sections; section++) s->member_at[section + 1] += s->member_at[section];
    memcpy(at, s->member_at, (size_t)(s->sections + 1) * sizeof *at);
    for (int32_t block = 0; block < s->blocks; block++)
        for (int32_t of = s->section_at[block]; of < s->section_at[block + 1]; of++)
            s->member[at[s->section_of[of]]++] = block;
    memcpy(s->sorted, s->member, (size_t)section_at[s->blocks] * sizeof *at);
    free(at);
}

static void find_neighbours(Search *s) {
    char *seen = room_for(s, s->blocks, 1);
    int64_t room = 0, count = 0;
    s->neighbour_at = ints(s, NULL, s->blocks + 1);
    for (int32_t block = 0; block < s->blocks && !s->out_of_memory; block++) {
        for (int32_t of = s->section_at[block]; of < s->section_at[block + 1]; of++) {
            int32_t section = s->section_of[of];
            for (int32_t at = s->member_at[section]; at < s->member_at[section + 1]; at++) seen[s->member[at]] = 1;
        }
        seen[block] = 0;
        if (room < count + s->blocks) {
            int32_t *grown = realloc(s->neighbour, (size_t)(room = 2 * room + s->blocks) * sizeof *grown);
            if (!grown) s->out_of_memory = 1;
            else s->neighbour = grown;
        }
        for (int32_t other = 0; other < s->blocks && !s->out_of_memory; other++) {
            if (seen[other]) s->neighbour[count++] = other;
            seen[other] = 0;
        }
        s->neighbour_at[block + 1] = (int32_t)count;
    }
    free(seen);
}

static void find_spans(Search *s) {
    s->first = ints(s, NULL, s->blocks);
    s->last = ints(s, NULL, s->blocks);
    s->starting_at = ints(s, NULL, s->sections + 1);
    s->starting = ints(s, NULL, s->blocks);
    if (s->out_of_memory) return;
    s->linear = 1;
    for (int32_t block = 0; block < s->blocks; block++) {
        int32_t from = s->section_at[block], to = s->section_at[block + 1] - 1;
        s->first[block] = s->section_of[from];
        s->last[block] = s->section_of[to];
        if (s->last[block] - s->first[block] != to - from) s->linear = 0;
        for (int32_t cut = s->first[block]; cut < s->last[block]; cut++) s->cuts[cut]++;
        for (int32_t at = from; at <= to; at++) {
            s->rest[s->section_of[at]] += s->size[block];
            s->open[s->section_of[at]]++;
        }
    }
    int32_t count = 0;
    for (int32_t section = 0; section < s->sections; section++) {
        s->starting_at[section] = count;
        for (int32_t at = s->member_at[section]; at < s->member_at[section + 1]; at++)
            if (s->first[s->member[at]] == section) s->starting[count++] = s->member[at];
    }
    s->starting_at[s->sections] = count;
}

static void make_room(Search *s) {
    s->low = room_for(s, s->blocks, sizeof *s->low);
    s->offset = room_for(s, s->blocks, sizeof *s->offset);
    s->rank = ints(s, NULL, s->blocks);
    s->placed = room_for(s, s->blocks, 1);
    s->wasted = room_for(s, s->blocks, 1);
    s->queued = room_for(s, s->sections, 1);
    s->reach = room_for(s, s->sections + 1, 1);
    s->back = room_for(s, s->sections + 1, 1);
    s->floor = room_for(s, s->sections, sizeof *s->floor);
    s->rest = room_for(s, s->sections, sizeof *s->rest);
    s->failures = room_for(s, s->sections, sizeof *s->failures);
    s->options = ints(s, NULL, s->sections);
    s->open = ints(s, NULL, s->sections);
    s->cuts = ints(s, NULL, s->sections);
    s->queue = ints(s, NULL, s->sections);
    s->scratch = ints(s, NULL, s->blocks);
    s->lows = room_for(s, s->blocks, sizeof *s->lows);
    s->tops = room_for(s, s->blocks, sizeof *s->tops);
}

static PyObject *prepare(PyObject *module, PyObject *args) {
    const char *size, *align, *section_at, *section_of, *obstacle_at, *obstacle, *twin;
    Py_ssize_t blocks, unused, section_count, obstacles;
    long long sections, capacity;
    (void)module;
    if (!PyArg_ParseTuple(args, "LLy#y#y#y#y#y#y#", &capacity, &sections, &size, &blocks, &align, &unused, &section_at,
                          &unused, &section_of, &section_count, &obstacle_at, &unused, &obstacle, &obstacles, &twin,
                          &unused))
        return NULL;
    Search *s = calloc(1, sizeof *s);
    if (!s) return PyErr_NoMemory();
    s->blocks = (int32_t)(blocks / 8);
    s->sections = (int32_t)sections;
    s->capacity = capacity;
    s->size = longs(s, (const int64_t *)size, s->blocks);
    s->align = longs(s, (const int64_t *)align, s->blocks);
    s->twin = ints(s, (const int64_t *)twin, s->blocks);
    s->section_at = ints(s, (const int64_t *)section_at, s->blocks + 1);
    s->section_of = ints(s, (const int64_t *)section_of, section_count / 8);
    s->obstacle_at = ints(s, (const int64_t *)obstacle_at, s->blocks + 1);
    s->obstacle = longs(s, (const int64_t *)obstacle, obstacles / 8);
    make_room(s);
    if (!s->out_of_memory) find_members(s, (const int64_t *)section_at);
    if (!s->out_of_memory) find_neighbours(s);
    if (!s->out_of_memory) find_spans(s);
    if (s->out_of_memory) {
        destroy(s);
        return PyErr_NoMemory();
    }
    if (!open_root(s)) s->capacity = -1;
    PyObject *capsule = PyCapsule_New(s, "tilewright_minimalloc.search", destroy_capsule);
    if (!capsule) destroy(s);
    return capsule;
}

static PyObject *run(PyObject *module, PyObject *args) {
    PyObject *capsule;
    const char *rank;
    Py_ssize_t unused;
    long long limit;
    int selector, status = FAILED;
    (void)module;
    if (!PyArg_ParseTuple(args, "Oiy#L", &capsule, &selector, &rank, &unused, &limit)) return NULL;
    Search *s = PyCapsule_GetPointer(capsule, "tilewright_minimalloc.search");
    if (!s) return NULL;
    s->selector = selector;
    s->nodes = 0;
    s->limit = limit;
    if (s->capacity >= 0) {
        for (int32_t block = 0; block < s->blocks; block++) s->rank[block] = (int32_t)((const int64_t *)rank)[block];
        memset(s->failures, 0, (size_t)s->sections * sizeof *s->failures);
        push_root(s);
        status = solve(s);
    }
    if (PyErr_Occurred()) return NULL;
    if (s->out_of_memory) return PyErr_NoMemory();
    return Py_BuildValue("iLy#", status, (long long)s->nodes, (const char *)s->offset,
                         (Py_ssize_t)(status == SOLVED ? s->blocks * 8 : 0));
}

static PyMethodDef methods[] = {
    {"prepare", prepare, METH_VARARGS, "A search over blocks in sections, from int64 arrays."},
    {"run", run, METH_VARARGS, "(status, nodes, offsets) of one search with an order and a limit."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_native", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&module); }
