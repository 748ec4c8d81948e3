/* Knows the branches: which section, which blocks, what is left. As `search.py`: the same nodes in the same order.
   Does not know what follows from a choice, nor problems, orders or restarts. */
#ifndef TILEWRIGHT_SEARCH_H
#define TILEWRIGHT_SEARCH_H

#include "rules.h"

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

#endif
