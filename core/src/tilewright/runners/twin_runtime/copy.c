/* copy.c - transfers as strictly as any copy engine could take them: nothing is there before it was waited for. */
#include "twin.h"
#include "tw_rt.h"

#include <stdlib.h>
#include <string.h>

enum { FLIGHT_FILL = 0xD3 };

/* Rows of bytes in an arena: `rows` in all, `each` of them in every plane. */
typedef struct {
    uint8_t *start;
    uint32_t bytes;
    uint32_t rows;
    uint32_t stride;
    uint32_t each;
    uint32_t plane;
    twin_arena *arena;
} block;

typedef struct {
    uint32_t number; /* 0: free */
    uint32_t path;
    uint32_t step;
    block target;
    block source;
    uint8_t *snapshot;
    uint64_t arrives;
} transfer;

static struct {
    transfer flying[TWIN_MOST_IN_FLIGHT];
    uint32_t last;
    uint64_t queue_free[TWIN_MOST_CORES][TWIN_MOST_IN_FLIGHT]; /* [engine][queue] */
} copies;

static uint8_t *row(const block *one, uint32_t index)
{
    return one->start + (size_t)(index / one->each) * one->plane + (size_t)(index % one->each) * one->stride;
}

static size_t extent(const block *one)
{
    return (size_t)(row(one, one->rows - 1u) - one->start) + one->bytes;
}

static const char *path_name(uint32_t path)
{
    return twin.machine.paths[path].name;
}

static const char *step_name(uint32_t step)
{
    return step < twin.machine.step_count ? twin.machine.steps[step] : "none";
}

/* Both have ascending rows. */
static int overlap(const block *one, const block *other)
{
    uint32_t i = 0u;
    uint32_t k = 0u;
    if (one->start + extent(one) <= other->start || other->start + extent(other) <= one->start) {
        return 0;
    }
    while (i < one->rows && k < other->rows) {
        const uint8_t *left = row(one, i);
        const uint8_t *right = row(other, k);
        if (left + one->bytes <= right) {
            ++i;
        } else if (right + other->bytes <= left) {
            ++k;
        } else {
            return 1;
        }
    }
    return 0;
}

static block located(const void *start, uint32_t bytes, const uint32_t shape[2], const uint32_t strides[2],
                     const char *role)
{
    const uint32_t rows = shape[0] * shape[1];
    block one = {(uint8_t *)(uintptr_t)start, bytes, rows, shape[0] > 1u ? strides[0] : bytes, shape[0], strides[1], NULL};
    if (one.stride < bytes) {
        twin_fault("TW7102", "the rows of a transfer's %s overlap: %u bytes every %u", role, bytes, strides[0]);
    }
    if (shape[1] > 1u && one.plane < (one.each - 1u) * one.stride + bytes) {
        twin_fault("TW7102", "the planes of a transfer's %s overlap: one every %u bytes", role, one.plane);
    }
    one.arena = twin_arena_of(start, extent(&one));
    if (one.arena == NULL) {
        twin_fault("TW7101", "a transfer's %s, %u rows of %u bytes every %u from %p on, leaves the memories", role, rows,
                   bytes, one.stride, start);
    }
    return one;
}

static uint32_t path_between(const block *source, const block *target)
{
    for (uint32_t i = 0; i < twin.machine.path_count; ++i) {
        const twin_path *path = &twin.machine.paths[i];
        if (path->source == source->arena->memory && path->target == target->arena->memory) {
            return i;
        }
    }
    twin_fault("TW7102", "nothing copies from '%s' to '%s'", twin.machine.memories[source->arena->memory],
               twin.machine.memories[target->arena->memory]);
}

static void demand_legal(const twin_path *path, const block *target, const block *source)
{
    uint64_t total = (uint64_t)source->bytes * source->rows;
    uintptr_t places = (uintptr_t)target->start | (uintptr_t)source->start | source->bytes;
    if (source->each > 1u) {
        places |= target->stride | source->stride;
    }
    if (source->rows > source->each) {
        places |= target->plane | source->plane;
    }
    if (path->max_bytes && total > path->max_bytes) {
        twin_fault("TW7102", "a transfer %s has %llu bytes, at most %u are allowed", path->name,
                   (unsigned long long)total, path->max_bytes);
    }
    if (path->align > 1u && places % path->align != 0u) {
        twin_fault("TW7102", "a transfer %s of %u bytes is not aligned to %u", path->name, source->bytes, path->align);
    }
    if (source->rows > source->each && path->dimensions < 3u) {
        twin_fault("TW7102", "a transfer %s has %u planes, the engine takes one", path->name, source->rows / source->each);
    }
    if (source->rows > 1u && path->dimensions < 2u) {
        twin_fault("TW7102", "a transfer %s has %u rows, the engine takes one", path->name, source->rows);
    }
    if (target->arena->read_only) {
        twin_fault("TW7102", "a transfer %s writes constants", path->name);
    }
}

static void demand_live(const block *one, const char *role)
{
    for (uint32_t i = 0; i < one->rows; ++i) {
        size_t start = (size_t)(row(one, i) - one->arena->base);
        const uint16_t first = one->arena->owner[(size_t)(one->start - one->arena->base)];
        for (size_t k = start; k < start + one->bytes; ++k) {
            if (one->arena->owner[k] != first || first == TWIN_DEAD) {
                twin_fault("TW7114", "a transfer's %s, %u rows of %u bytes from byte %zu of '%s' on, leaves the tile "
                           "that was declared live (at byte %zu)", role, one->rows, one->bytes,
                           (size_t)(one->start - one->arena->base), one->arena->name, k);
            }
        }
    }
}

static void demand_apart(const block *target, const block *source)
{
    if (overlap(target, source)) {
        twin_fault("TW7106", "a transfer's target overlaps its own source");
    }
    for (uint32_t i = 0; i < TWIN_MOST_IN_FLIGHT; ++i) {
        const transfer *other = &copies.flying[i];
        if (other->number == 0u) {
            continue;
        }
        if (overlap(target, &other->target)) {
            twin_fault("TW7106", "a transfer writes where transfer %u (%s, step '%s') still writes", other->number,
                       path_name(other->path), step_name(other->step));
        }
        if (overlap(target, &other->source)) {
            twin_fault("TW7104", "a transfer writes what transfer %u (%s, step '%s') still reads", other->number,
                       path_name(other->path), step_name(other->step));
        }
        if (overlap(source, &other->target)) {
            twin_fault("TW7106", "a transfer reads what transfer %u (%s, step '%s') has not brought yet", other->number,
                       path_name(other->path), step_name(other->step));
        }
    }
}

static void demand_unowned(const block *one, int written, const char *what)
{
    for (uint32_t i = 0; i < one->rows; ++i) {
        twin_demand_unowned(row(one, i), one->bytes, written, what);
    }
}

static transfer *free_slot(uint32_t path)
{
    const twin_path *wanted = &twin.machine.paths[path];
    uint32_t busy = 0u;
    transfer *found = NULL;
    for (uint32_t i = 0; i < TWIN_MOST_IN_FLIGHT; ++i) {
        transfer *one = &copies.flying[i];
        if (one->number == 0u) {
            found = found == NULL ? one : found;
        } else {
            busy += twin.machine.paths[one->path].engine == wanted->engine;
        }
    }
    if (found == NULL || (wanted->channels && busy >= wanted->channels)) {
        twin_fault("TW7103", "%u transfers are in flight when one more %s starts: a wait is missing", busy, wanted->name);
    }
    return found;
}

static void take_off(transfer *one)
{
    uint32_t bytes = one->source.bytes;
    one->snapshot = (uint8_t *)malloc((size_t)bytes * one->source.rows);
    if (one->snapshot == NULL) {
        twin_fault("TW7100", "no room for the bytes of a transfer");
    }
    for (uint32_t i = 0; i < one->source.rows; ++i) {
        uint8_t *kept = one->snapshot + (size_t)i * bytes;
        uint8_t *target = row(&one->target, i);
        twin_move(kept, row(&one->source, i), bytes);
        if (twin.mode == TWIN_EAGER) {
            twin_move(target, kept, bytes);
        } else {
            twin_set(target, twin_pattern(FLIGHT_FILL), bytes);
        }
        twin_hide(target, bytes);
    }
}

static void land(transfer *one)
{
    uint32_t bytes = one->source.bytes;
    for (uint32_t i = 0; i < one->source.rows; ++i) {
        const uint8_t *kept = one->snapshot + (size_t)i * bytes;
        uint8_t *target = row(&one->target, i);
        if (!twin_equal(kept, row(&one->source, i), bytes)) {
            twin_fault("TW7104", "row %u of the source of transfer %u (%s, step '%s') was rewritten in flight", i,
                       one->number, path_name(one->path), step_name(one->step));
        }
        if (twin.mode == TWIN_EAGER ? !twin_equal(kept, target, bytes)
                                    : !twin_holds(target, twin_pattern(FLIGHT_FILL), bytes)) {
            twin_fault("TW7105", "row %u of the target of transfer %u (%s, step '%s') was written in flight", i,
                       one->number, path_name(one->path), step_name(one->step));
        }
        twin_unhide(target, bytes);
        twin_move(target, kept, bytes);
    }
    free(one->snapshot);
    one->number = 0u;
}

/* Takes the queue that is free first. */
static void spend(transfer *one)
{
    const twin_path *path = &twin.machine.paths[one->path];
    uint64_t *free_at = copies.queue_free[path->engine];
    uint64_t start = UINT64_MAX;
    uint32_t queue = 0u;
    if (twin_self() == UINT32_MAX) { /* before the first run: no clock runs */
        return;
    }
    for (uint32_t i = 0; i < path->queues; ++i) {
        uint64_t ready = twin_now() > free_at[i] ? twin_now() : free_at[i];
        if (ready < start) {
            start = ready;
            queue = i;
        }
    }
    one->arrives = start + twin_transfer_cycles(one->path, one->source.bytes * one->source.rows, one->source.rows);
    free_at[queue] = one->arrives;
    twin_count_transfer(one->path, one->source.bytes * one->source.rows);
    twin_event("C %u %llu %llu %u %u %u %u\n", one->path, (unsigned long long)start, (unsigned long long)one->arrives,
               one->source.bytes * one->source.rows, one->source.rows, one->step, queue);
}

static void demand_dma_core(const char *what)
{
    if (!tw_rt_is_dma_core()) {
        twin_fault("TW7113", "core %u %s, which only the DMA core may", tw_rt_core(), what);
    }
}

/* `shape`: rows of a plane, and planes; `strides`: bytes from row to row, and from plane to plane. */
static uint32_t begin(void *dst, const void *src, uint32_t bytes, const uint32_t shape[2], const uint32_t dst_strides[2],
                      const uint32_t src_strides[2])
{
    block target;
    block source;
    transfer *one;
    uint32_t path;
    uint32_t number;
    demand_dma_core("starts a transfer");
    if (bytes == 0u || shape[0] == 0u || shape[1] == 0u) {
        twin_fault("TW7102", "a transfer of %u rows of %u bytes moves nothing", shape[0] * shape[1], bytes);
    }
    twin_lock();
    target = located(dst, bytes, shape, dst_strides, "target");
    source = located(src, bytes, shape, src_strides, "source");
    path = path_between(&source, &target);
    demand_legal(&twin.machine.paths[path], &target, &source);
    demand_live(&target, "target");
    demand_live(&source, "source");
    demand_apart(&target, &source);
    demand_unowned(&target, 1, "what a transfer writes");
    demand_unowned(&source, 0, "what a transfer reads");
    one = free_slot(path);
    number = ++copies.last;
    *one = (transfer){number, path, twin_step_now(), target, source, NULL, 0u};
    take_off(one);
    spend(one);
    twin_unlock();
    return number;
}

uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    const uint32_t shape[2] = {rows, 1u};
    const uint32_t to[2] = {dst_stride, 0u};
    const uint32_t from[2] = {src_stride, 0u};
    return begin(dst, src, bytes, shape, to, from);
}

/* Declared in tw_rt.h where the target has it. */
uint32_t tw_rt_copy_3d(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t planes, uint32_t dst_stride,
                       uint32_t src_stride, uint32_t dst_plane, uint32_t src_plane);
uint32_t tw_rt_copy_3d(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t planes, uint32_t dst_stride,
                       uint32_t src_stride, uint32_t dst_plane, uint32_t src_plane)
{
    const uint32_t shape[2] = {rows, planes};
    const uint32_t to[2] = {dst_stride, dst_plane};
    const uint32_t from[2] = {src_stride, src_plane};
    return begin(dst, src, bytes, shape, to, from);
}

void tw_rt_wait(uint32_t number)
{
    demand_dma_core("waits for a transfer");
    twin_lock();
    for (uint32_t i = 0; i < TWIN_MOST_IN_FLIGHT && number; ++i) {
        if (copies.flying[i].number == number) {
            uint64_t arrives = copies.flying[i].arrives;
            land(&copies.flying[i]);
            twin_wait_until(arrives);
            twin_unlock();
            return;
        }
    }
    if (number && number <= copies.last) {
        twin_fault("TW7107", "transfer %u is waited for a second time", number);
    }
    twin_fault("TW7107", "transfer %u is waited for, but %u have been started", number, copies.last);
}

void twin_copies_begin(void)
{
    memset(&copies, 0, sizeof copies);
}

void twin_copies_end(void)
{
    for (uint32_t i = 0; i < TWIN_MOST_IN_FLIGHT; ++i) {
        const transfer *one = &copies.flying[i];
        if (one->number) {
            twin_fault("TW7108", "transfer %u (%s, step '%s') was never waited for", one->number, path_name(one->path),
                       step_name(one->step));
        }
    }
}
