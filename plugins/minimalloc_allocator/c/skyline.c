/* Knows how to place blocks on top of each other: always the one that can lie lowest on all that it lives with.
   Does not know gaps: what is under the skyline is not used again. As `tilewright.allocate.packing.stacking`, step by step.

   Times are numbered by births, from 0 without gaps. A segment tree over them holds the skyline. It only rises, so a
   start that was worked out before is a bound, and only some at the front of a heap are worked out again. */
#include "module.h"

enum { PATIENCE = 30, LOOKS = 24 }; /* as there */

typedef struct { int64_t offset; int32_t block; } Start;

typedef struct {
    int32_t blocks, leaves, waiting, seen;
    const int64_t *size, *align, *first, *last; /* block 0 goes first where two can lie as low, and so on */
    int64_t *most, *least;                      /* node -> highest anywhere below it; a height that all of it has */
    int64_t *offset;
    Start *heap, *looked; /* bounds of those that wait; those that were worked out for this turn */
} Yard;

static void destroy(Yard *y) {
    free(y->most);
    free(y->least);
    free(y->offset);
    free(y->heap);
    free(y->looked);
}

static int prepare(Yard *y, int32_t times) {
    size_t room = (size_t)y->blocks + 1;
    for (y->leaves = 1; y->leaves < times; y->leaves *= 2) continue;
    y->most = calloc(2 * (size_t)y->leaves, sizeof *y->most);
    y->least = calloc(2 * (size_t)y->leaves, sizeof *y->least);
    y->offset = malloc(room * sizeof *y->offset);
    y->heap = malloc(room * sizeof *y->heap);
    y->looked = malloc(room * sizeof *y->looked);
    if (!y->most || !y->least || !y->offset || !y->heap || !y->looked) return 0;
    for (y->waiting = 0; y->waiting < y->blocks; y->waiting++) y->heap[y->waiting] = (Start){0, y->waiting};
    return 1;
}

static int64_t above(const Yard *y, int32_t leaf, int64_t best) {
    for (; leaf; leaf /= 2)
        if (y->least[leaf] > best) best = y->least[leaf];
    return best;
}

static int64_t height(const Yard *y, int32_t block) {
    int32_t low = (int32_t)y->first[block] + y->leaves, high = (int32_t)y->last[block] + y->leaves + 1;
    int64_t best = above(y, high - 1, above(y, low, 0));
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1 && y->most[low++] > best) best = y->most[low - 1];
        if (high & 1 && y->most[--high] > best) best = y->most[high];
    }
    return best;
}

/* `top` is higher than the skyline while the block lives. */
static void raise_to(Yard *y, int32_t block, int64_t top) {
    int32_t first = (int32_t)y->first[block] + y->leaves, last = (int32_t)y->last[block] + y->leaves;
    for (int32_t low = first, high = last + 1; low < high; low /= 2, high /= 2) {
        if (low & 1) {
            y->least[low] = y->most[low] = top;
            low++;
        }
        if (high & 1) {
            high--;
            y->least[high] = y->most[high] = top;
        }
    }
    for (int32_t node = first; node; node /= 2)
        if (y->most[node] < top) y->most[node] = top;
    for (int32_t node = last; node; node /= 2)
        if (y->most[node] < top) y->most[node] = top;
}

static int is_before(Start one, Start other) {
    return one.offset != other.offset ? one.offset < other.offset : one.block < other.block;
}

static Start popped(Yard *y) {
    Start *heap = y->heap, found = heap[0], moved = heap[--y->waiting];
    int32_t at = 0;
    for (int32_t child = 1; child < y->waiting; child = 2 * at + 1) {
        if (child + 1 < y->waiting && is_before(heap[child + 1], heap[child])) child++;
        if (!is_before(heap[child], moved)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
    return found;
}

static void push(Yard *y, Start start) {
    int32_t at = y->waiting++;
    for (; at && is_before(start, y->heap[(at - 1) / 2]); at = (at - 1) / 2) y->heap[at] = y->heap[(at - 1) / 2];
    y->heap[at] = start;
}

/* The lowest start of those worked out, of which there are more as long as one that waits may be lower; how many. */
static int32_t look(Yard *y, int32_t looks) {
    int32_t best = 0;
    for (y->seen = 0; y->waiting && y->seen < looks; y->seen++) {
        if (y->seen && is_before(y->looked[best], y->heap[0])) break;
        Start start = popped(y);
        int64_t align = y->align[start.block];
        start.offset = (height(y, start.block) + align - 1) / align * align;
        y->looked[y->seen] = start;
        if (is_before(start, y->looked[best])) best = y->seen;
    }
    return best;
}

static int stack(Yard *y) {
    int64_t left = (int64_t)PATIENCE * y->blocks;
    for (int32_t placed = 0; y->waiting; placed++) {
        int32_t best = look(y, left > LOOKS ? (left < y->blocks ? (int32_t)left : y->blocks) : LOOKS);
        Start start = y->looked[best];
        left -= y->seen;
        y->offset[start.block] = start.offset;
        raise_to(y, start.block, start.offset + y->size[start.block]);
        for (int32_t at = 0; at < y->seen; at++)
            if (at != best) push(y, y->looked[at]);
        if (placed % SIGNALS_EVERY == 0 && PyErr_CheckSignals()) return 0;
    }
    return 1;
}

static PyObject *skyline(PyObject *module, PyObject *args) {
    const char *size, *align, *first, *last;
    Py_ssize_t bytes, unused;
    int times;
    (void)module;
    if (!PyArg_ParseTuple(args, "iy#y#y#y#", &times, &size, &bytes, &align, &unused, &first, &unused, &last, &unused))
        return NULL;
    Yard yard = {.blocks = (int32_t)(bytes / 8)};
    yard.size = (const int64_t *)size;
    yard.align = (const int64_t *)align;
    yard.first = (const int64_t *)first;
    yard.last = (const int64_t *)last;
    PyObject *found = NULL;
    if (!prepare(&yard, times)) PyErr_NoMemory();
    else if (stack(&yard)) found = PyBytes_FromStringAndSize((const char *)yard.offset, bytes);
    destroy(&yard);
    return found;
}

MODULE(skyline,
       {"skyline", skyline, METH_VARARGS, "Offsets of blocks on a skyline, from int64 arrays."})
