/* Knows what follows from a choice, as `rules.py`. Does not choose. */
#ifndef TILEWRIGHT_RULES_H
#define TILEWRIGHT_RULES_H

#include "state.h"

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

#endif
