/* Knows how to place blocks one after another, each at the lowest offset that is free while it lives.
   Does not know which order is good: that is `first_fit.py`. Times are numbered from 0 without gaps.

   Who of those placed is alive together with a block is asked of a segment tree over time (who is there when it is
   born) and of a list by birth (who is born while it lives), so that only such blocks are ever looked at. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

enum { SIGNALS_EVERY = 1024 };

typedef struct { int64_t low, high; } Range;
typedef struct { int32_t block, next; } Link; /* next: -1 at the end */

typedef struct {
    int32_t blocks, times, leaves;
    const int64_t *size, *align, *first, *last, *order;
    int64_t *offset;               /* -1: not placed yet */
    int32_t *born_at, *born;       /* time -> blocks born then */
    int32_t *head;                 /* node of the tree -> blocks that live through all of it, as a list */
    Link *link;
    int64_t links, room;
    Range *heap;
} Yard;

static void destroy(Yard *y) {
    free(y->offset);
    free(y->born_at);
    free(y->born);
    free(y->head);
    free(y->link);
    free(y->heap);
}

static int prepare(Yard *y) {
    for (y->leaves = 1; y->leaves < y->times; y->leaves *= 2) continue;
    y->offset = malloc(((size_t)y->blocks + 1) * sizeof *y->offset);
    y->born_at = calloc((size_t)y->times + 2, sizeof *y->born_at);
    y->born = malloc(((size_t)y->blocks + 1) * sizeof *y->born);
    y->head = malloc(2 * (size_t)y->leaves * sizeof *y->head);
    y->heap = malloc(((size_t)y->blocks + 1) * sizeof *y->heap);
    if (!y->offset || !y->born_at || !y->born || !y->head || !y->heap) return 0;
    for (int32_t node = 0; node < 2 * y->leaves; node++) y->head[node] = -1;
    for (int32_t block = 0; block < y->blocks; block++) {
        y->offset[block] = -1;
        y->born_at[y->first[block] + 2]++;
    }
    for (int32_t time = 0; time < y->times; time++) y->born_at[time + 2] += y->born_at[time + 1];
    for (int32_t block = 0; block < y->blocks; block++) y->born[y->born_at[y->first[block] + 1]++] = block;
    return 1;
}

static int hang(Yard *y, int32_t node, int32_t block) {
    if (y->links == y->room) {
        int64_t room = y->room ? 2 * y->room : 1024;
        Link *grown = realloc(y->link, (size_t)room * sizeof *grown);
        if (!grown) return 0;
        y->link = grown;
        y->room = room;
    }
    y->link[y->links] = (Link){block, y->head[node]};
    y->head[node] = (int32_t)y->links++;
    return 1;
}

static int settle(Yard *y, int32_t block) {
    int32_t low = (int32_t)y->first[block] + y->leaves, high = (int32_t)y->last[block] + y->leaves + 1;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1 && !hang(y, low++, block)) return 0;
        if (high & 1 && !hang(y, --high, block)) return 0;
    }
    return 1;
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

static int32_t take(Yard *y, int32_t count, int32_t block) {
    y->heap[count] = (Range){y->offset[block], y->offset[block] + y->size[block]};
    return count + 1;
}

/* What the block may not overlap, as a heap by lowest byte. */
static int32_t gather(Yard *y, int32_t block) {
    int32_t count = 0;
    for (int32_t node = (int32_t)y->first[block] + y->leaves; node; node /= 2)
        for (int32_t at = y->head[node]; at >= 0; at = y->link[at].next) count = take(y, count, y->link[at].block);
    for (int32_t at = y->born_at[y->first[block] + 1]; at < y->born_at[y->last[block] + 1]; at++)
        if (y->offset[y->born[at]] >= 0) count = take(y, count, y->born[at]);
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
    const char *size, *align, *first, *last, *order;
    Py_ssize_t bytes, unused;
    int times;
    (void)module;
    if (!PyArg_ParseTuple(args, "iy#y#y#y#y#", &times, &size, &bytes, &align, &unused, &first, &unused, &last, &unused,
                          &order, &unused))
        return NULL;
    Yard yard = {.blocks = (int32_t)(bytes / 8), .times = times};
    yard.size = (const int64_t *)size;
    yard.align = (const int64_t *)align;
    yard.first = (const int64_t *)first;
    yard.last = (const int64_t *)last;
    yard.order = (const int64_t *)order;
    int room = prepare(&yard), stopped = 0;
    for (int32_t at = 0; room && !stopped && at < yard.blocks; at++) {
        int32_t block = (int32_t)yard.order[at];
        yard.offset[block] = lowest(&yard, block);
        room = settle(&yard, block);
        stopped = at % SIGNALS_EVERY == 0 && PyErr_CheckSignals() != 0;
    }
    PyObject *found = NULL;
    if (!room) PyErr_NoMemory();
    else if (!stopped) found = PyBytes_FromStringAndSize((const char *)yard.offset, bytes);
    destroy(&yard);
    return found;
}

static PyMethodDef methods[] = {
    {"first_fit", first_fit, METH_VARARGS, "Offsets of blocks that are placed in an order, from int64 arrays."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_first_fit", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__first_fit(void) { return PyModule_Create(&module); }
