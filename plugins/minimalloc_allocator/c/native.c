/* Knows how Python hands over an instance and gets offsets back: int64 arrays as bytes.
   Does not know how it is solved. The reasons for everything are in the Python modules of the same names. */
#include "search.h"

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

MODULE(native,
       {"prepare", prepare, METH_VARARGS, "A search over blocks in sections, from int64 arrays."},
       {"run", run, METH_VARARGS, "(status, nodes, offsets) of one search with an order and a limit."})
