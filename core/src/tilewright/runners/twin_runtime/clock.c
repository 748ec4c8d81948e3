/* clock.c - one virtual clock for each core: what transfers and kernels cost, counted in all and step by step. */
#define _POSIX_C_SOURCE 200809L
#include "twin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 1 << 16 };

/* A transfer of some size over some path; what it costs is told by costs.txt. */
typedef struct {
    uint32_t path;
    uint32_t bytes;
    uint32_t rows; /* 0: free */
    uint64_t cycles;
} shape;

typedef struct {
    uint64_t begin;
    uint64_t end;
    uint64_t compute;
    int seen;
} share_of_step; /* of one core */

typedef struct {
    uint64_t bytes;
    uint64_t transfers;
    uint64_t cycles;
} traffic;

static struct {
    shape shapes[SHAPES];
    uint32_t shape_count;
    share_of_step *shares; /* [step][core]; the last step is none */
    traffic *moved;        /* [step][path] */
    uint64_t *stalls;      /* [step] */
    uint64_t barriers;
    uint64_t transfer_cycles; /* of the last one asked for */
    uint64_t total;
    FILE *events;
    uint64_t phase_begin[TWIN_MOST_CORES];
    uint64_t phase_end[TWIN_MOST_CORES];
    uint32_t phase_step[TWIN_MOST_CORES];
} book;

static uint32_t slots(void)
{
    return twin.machine.step_count + 1u;
}

static uint32_t slot(uint32_t step)
{
    return step < twin.machine.step_count ? step : twin.machine.step_count;
}

static shape *shape_of(uint32_t path, uint32_t bytes, uint32_t rows)
{
    uint32_t at = (path * 2654435761u ^ bytes * 40503u ^ rows * 2246822519u) % SHAPES;
    while (book.shapes[at].rows && (book.shapes[at].path != path || book.shapes[at].bytes != bytes ||
                                    book.shapes[at].rows != rows)) {
        at = (at + 1u) % SHAPES;
    }
    if (!book.shapes[at].rows) {
        if (++book.shape_count == SHAPES) {
            twin_fault("TW7100", "more than %d kinds of transfers", SHAPES - 1);
        }
        book.shapes[at].path = path;
        book.shapes[at].bytes = bytes;
        book.shapes[at].rows = rows;
    }
    return &book.shapes[at];
}

static void read_costs(void)
{
    unsigned path;
    unsigned bytes;
    unsigned rows;
    unsigned long long cycles;
    FILE *file = fopen("costs.txt", "r");
    while (file != NULL && fscanf(file, "%u %u %u %llu", &path, &bytes, &rows, &cycles) == 4) {
        shape_of(path, bytes, rows)->cycles = cycles;
    }
    if (file != NULL) {
        fclose(file);
    }
}

void twin_boot(const twin_machine *machine, int argc, char **argv)
{
    twin.machine = *machine;
    twin.seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0u;
    twin.mode = argc > 2 && strcmp(argv[2], "eager") == 0  ? TWIN_EAGER
                : argc > 2 && strcmp(argv[2], "free") == 0 ? TWIN_FREE
                                                           : TWIN_LAZY;
    twin.timeline = argc > 3 && strcmp(argv[3], "timeline") == 0;
    book.shares = (share_of_step *)calloc((size_t)slots() * TWIN_MOST_CORES, sizeof *book.shares);
    book.moved = (traffic *)calloc((size_t)slots() * (machine->path_count + 1u), sizeof *book.moved);
    book.stalls = (uint64_t *)calloc(slots(), sizeof *book.stalls);
    if (book.shares == NULL || book.moved == NULL || book.stalls == NULL || twin_team_size() > TWIN_MOST_CORES) {
        twin_fault("TW7100", "no room for the counts of %u steps on %u cores", slots(), twin_team_size());
    }
    read_costs();
    twin_map();
}

void twin_clock_begin(void)
{
    memset(book.shares, 0, (size_t)slots() * TWIN_MOST_CORES * sizeof *book.shares);
    memset(book.moved, 0, (size_t)slots() * (twin.machine.path_count + 1u) * sizeof *book.moved);
    memset(book.stalls, 0, slots() * sizeof *book.stalls);
    memset(book.phase_begin, 0, sizeof book.phase_begin);
    memset(book.phase_end, 0, sizeof book.phase_end);
    book.barriers = 0u;
    if (twin.timeline && book.events == NULL) {
        book.events = fopen("events.txt", "w");
    }
}

void twin_begin(void)
{
    twin_clock_begin();
    twin_copies_begin();
    twin_engines_begin();
    twin_fill();
}

void twin_end(void)
{
    twin_copies_end();
    twin_engines_end();
    twin_check_edges();
    if (book.events != NULL) { /* one inference is enough */
        fclose(book.events);
        book.events = NULL;
        twin.timeline = 0;
    }
}

uint64_t twin_transfer_cycles(uint32_t path, uint32_t bytes, uint32_t rows)
{
    book.transfer_cycles = shape_of(path, bytes, rows)->cycles;
    return book.transfer_cycles;
}

void twin_count_transfer(uint32_t path, uint32_t bytes)
{
    traffic *one = &book.moved[(size_t)slot(twin_step_now()) * twin.machine.path_count + path];
    one->bytes += bytes;
    one->transfers += 1u;
    one->cycles += book.transfer_cycles;
}

void twin_count_step(uint32_t core, uint32_t step, int ends, uint64_t now)
{
    share_of_step *one = &book.shares[(size_t)slot(step) * TWIN_MOST_CORES + core];
    if (!one->seen) {
        one->seen = 1;
        one->begin = now;
    }
    if (ends) {
        one->end = now;
    }
}

void twin_count_compute(uint32_t core, uint32_t step, uint32_t cycles)
{
    uint64_t now = twin_now();
    book.shares[(size_t)slot(step) * TWIN_MOST_CORES + core].compute += cycles;
    if (book.phase_end[core] == 0u) {
        book.phase_begin[core] = now;
    }
    book.phase_end[core] = now + cycles;
    book.phase_step[core] = slot(step);
}

void twin_count_stall(uint32_t step, uint64_t cycles)
{
    book.stalls[slot(step)] += cycles;
}

/* Every core is at the barrier. */
void twin_count_barrier(void)
{
    uint64_t begin = UINT64_MAX;
    uint64_t end = 0u;
    uint32_t step = twin.machine.step_count;
    for (uint32_t i = 0; i < twin_team_size(); ++i) {
        if (book.phase_end[i]) {
            begin = book.phase_begin[i] < begin ? book.phase_begin[i] : begin;
            end = book.phase_end[i] > end ? book.phase_end[i] : end;
            step = book.phase_step[i];
        }
        book.phase_end[i] = 0u;
    }
    ++book.barriers;
    if (end) {
        twin_event("P %llu %llu %u\n", (unsigned long long)begin, (unsigned long long)end, step);
    }
}

void twin_event(const char *format, ...)
{
    va_list arguments;
    if (book.events != NULL) {
        va_start(arguments, format);
        vfprintf(book.events, format, arguments);
        va_end(arguments);
    }
}

static void report_step(FILE *file, uint32_t step)
{
    uint64_t begin = UINT64_MAX;
    uint64_t end = 0u;
    uint64_t compute = 0u;
    for (uint32_t core = 0; core < twin_team_size(); ++core) {
        const share_of_step *one = &book.shares[(size_t)step * TWIN_MOST_CORES + core];
        if (one->seen) {
            begin = one->begin < begin ? one->begin : begin;
            end = one->end > end ? one->end : end;
        }
        compute = one->compute > compute ? one->compute : compute;
    }
    fprintf(file, "{\"begin\": %llu, \"end\": %llu, \"compute\": %llu, \"stall\": %llu, \"paths\": [",
            (unsigned long long)(begin == UINT64_MAX ? 0u : begin), (unsigned long long)end,
            (unsigned long long)compute, (unsigned long long)book.stalls[step]);
    for (uint32_t path = 0; path < twin.machine.path_count; ++path) {
        const traffic *one = &book.moved[(size_t)step * twin.machine.path_count + path];
        fprintf(file, "%s[%llu, %llu, %llu]", path ? ", " : "", (unsigned long long)one->bytes,
                (unsigned long long)one->transfers, (unsigned long long)one->cycles);
    }
    fprintf(file, "]}%s\n", step == twin.machine.step_count ? "" : ",");
}

static void report_shapes(FILE *file)
{
    const char *before = "";
    fprintf(file, "\"shapes\": [");
    for (uint32_t i = 0; i < SHAPES; ++i) {
        if (book.shapes[i].rows) {
            fprintf(file, "%s[%u, %u, %u]", before, book.shapes[i].path, book.shapes[i].bytes, book.shapes[i].rows);
            before = ", ";
        }
    }
    fprintf(file, "]");
}

/* When the slowest core was done. */
void twin_count_end(uint64_t now)
{
    book.total = now;
}

void twin_report(void)
{
    FILE *file = fopen("report.json", "w");
    if (file == NULL) {
        twin_fault("TW7100", "report.json cannot be written");
    }
    fprintf(file, "{\"cycles\": %llu, \"barriers\": %llu, \"steps\": [\n", (unsigned long long)book.total,
            (unsigned long long)book.barriers);
    for (uint32_t step = 0; step < slots(); ++step) {
        report_step(file, step);
    }
    fprintf(file, "],\n");
    report_shapes(file);
    fprintf(file, "}\n");
    fclose(file);
}
