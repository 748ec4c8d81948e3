/* Knows how to place blocks one after another, each at the lowest offset that is free while it lives.
   Does not know which order is good: that is `first_fit.py`.

   Blocks are numbered by birth, and times by births, from 0 without gaps: two lifetimes meet where one has the other's
   first time. Who of those placed is alive together with a block is asked of an interval tree, the latest ends of
   buckets of neighbours in time, so that only buckets with such a block are ever looked at. */
#include "module.h"

enum { BUCKET = 16 };

typedef struct { int64_t low, high; } Range;

typedef struct {
    int32_t blocks, leaves;
    const int64_t *size, *align, *first, *last, *until; /* until: blocks born before this one has died */
    int32_t *end;                                       /* block -> its last time; -1: not placed yet */
    int32_t *latest;                                    /* node of the tree -> the latest end of its blocks */
    Range *place, *heap;
} Yard;

static void destroy(Yard *y) {
    free(y->end);
    free(y->latest);
    free(y->place);
    free(y->heap);
}

static int prepare(Yard *y) {
    size_t room = ((size_t)y->blocks + BUCKET) * sizeof(Range);
    for (y->leaves = 1; y->leaves * BUCKET < y->blocks; y->leaves *= 2) continue;
    y->end = malloc((size_t)y->leaves * BUCKET * sizeof *y->end);
    y->latest = malloc(2 * (size_t)y->leaves * sizeof *y->latest);
    y->place = malloc(room);
    y->heap = malloc(room);
    if (!y->end || !y->latest || !y->place || !y->heap) return 0;
    for (int32_t block = 0; block < y->leaves * BUCKET; block++) y->end[block] = -1;
    for (int32_t node = 0; node < 2 * y->leaves; node++) y->latest[node] = -1;
    return 1;
}

static void settle(Yard *y, int32_t block, int64_t offset) {
    int32_t end = (int32_t)y->last[block];
    y->place[block] = (Range){offset, offset + y->size[block]};
    y->end[block] = end;
    for (int32_t node = block / BUCKET + y->leaves; node && y->latest[node] < end; node /= 2) y->latest[node] = end;
}

static void sink(Range *heap, int32_t count, int32_t at) {
    Range moved = heap[at];
    for (int32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1].low < heap[child].low) child++;
        if (heap[child].low >= moved.low) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* The leaf before `node` that has a block that is still alive at `time`; 0 where there is none. */
static int32_t before(const Yard *y, int32_t node, int32_t time) {
    while (node & (node - 1)) { /* the first node of a level is a power of two */
        if (node & 1 && y->latest[node - 1] >= time) {
            for (node--; node < y->leaves;) node = 2 * node + (y->latest[2 * node + 1] >= time);
            return node;
        }
        node /= 2;
    }
    return 0;
}

/* What the block may not overlap, as a heap by lowest byte. */
static int32_t gather(Yard *y, int32_t block) {
    int32_t count = 0, born = (int32_t)y->first[block], until = (int32_t)y->until[block];
    for (int32_t leaf = (until - 1) / BUCKET + y->leaves; leaf; leaf = before(y, leaf, born)) {
        int32_t from = (leaf - y->leaves) * BUCKET, to = from + BUCKET < until ? from + BUCKET : until;
        for (int32_t other = from; other < to; other++)
            if (y->end[other] >= born) y->heap[count++] = y->place[other];
    }
    for (int32_t at = count / 2 - 1; at >= 0; at--) sink(y->heap, count, at);
    return count;
}

static int64_t lowest(Yard *y, int32_t block) {
    int32_t count = gather(y, block);
    int64_t align = y->align[block], offset = 0;
    while (count && y->heap[0].low < offset + y->size[block]) {
        if (y->heap[0].high > offset) offset = (y->heap[0].high + align - 1) / align * align;
        y->heap[0] = y->heap[--count];
        if (count) sink(y->heap, count, 0);
    }
    return offset;
}

static PyObject *first_fit(PyObject *module, PyObject *args) {
    const char *size, *align, *first, *last, *until, *order;
    Py_ssize_t bytes, unused;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#y#y#y#y#", &size, &bytes, &align, &unused, &first, &unused, &last, &unused, &until,
                          &unused, &order, &unused))
        return NULL;
    Yard yard = {.blocks = (int32_t)(bytes / 8)};
    yard.size = (const int64_t *)size;
    yard.align = (const int64_t *)align;
    yard.first = (const int64_t *)first;
    yard.last = (const int64_t *)last;
    yard.until = (const int64_t *)until;
    int room = prepare(&yard), stopped = 0;
    for (int32_t at = 0; room && !stopped && at < yard.blocks; at++) {
        int32_t block = (int32_t)((const int64_t *)order)[at];
        settle(&yard, block, lowest(&yard, block));
        stopped = at % SIGNALS_EVERY == 0 && PyErr_CheckSignals() != 0;
    }
    PyObject *found = NULL;
    if (!room) PyErr_NoMemory();
    else if (!stopped) found = PyBytes_FromStringAndSize((const char *)yard.place, bytes * 2);
    destroy(&yard);
    return found;
}

MODULE(first_fit,
       {"first_fit", first_fit, METH_VARARGS, "Offsets of blocks that are placed in an order, from int64 arrays."})
