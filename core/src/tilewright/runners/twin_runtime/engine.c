/* engine.c - jobs of engines as strictly as any engine could take them: results are there once they are waited for, even
 * where a kernel's emulation has them at once; what a job reads stays as it is, what it writes is its own. */
#include "twin.h"
#include "tw_rt.h"

#include <stdlib.h>
#include <string.h>

enum { JOB_FILL = 0xB7, MOST_AXES = 6 };

/* Bytes that a job owns: runs of `run` bytes along `axes` axes. */
typedef struct {
    uint8_t *start;
    size_t run;
    uint32_t axes;
    int32_t written;
    size_t extents[MOST_AXES];
    size_t strides[MOST_AXES];
    uint8_t *kept; /* what was read at the start, or what is there after the wait */
} owned;

typedef struct {
    const char *kernel; /* NULL: free */
    uint32_t engine;
    uint32_t step;
    uint64_t number;
    uint64_t ends;
    owned windows[TWIN_MOST_WINDOWS];
    uint32_t count;
} job;

static struct {
    job running[TWIN_MOST_JOBS];
    uint64_t started;
    uint64_t engine_free[TWIN_MOST_CORES];
} engines;

static const char *step_name(uint32_t step)
{
    return step < twin.machine.step_count ? twin.machine.steps[step] : "none";
}

/* Axes from the one with the smallest stride outwards; neighbours become one run. */
static owned laid_out(const tw_rt_window *window)
{
    owned one = {(uint8_t *)(uintptr_t)window->bytes, window->item, 0u, window->written, {0}, {0}, NULL};
    int taken[MOST_AXES] = {0};
    for (int32_t i = 0; i < window->axes; ++i) {
        int32_t least = -1;
        for (int32_t k = 0; k < window->axes; ++k) {
            if (!taken[k] && (least < 0 || window->strides[k] < window->strides[least])) {
                least = k;
            }
        }
        taken[least] = 1;
        const size_t stride = (size_t)window->strides[least] * window->item;
        const size_t extent = (size_t)window->extents[least];
        if (extent == 1u) {
            continue;
        }
        if (one.axes == 0u && stride == one.run) {
            one.run *= extent;
        } else {
            one.extents[one.axes] = extent;
            one.strides[one.axes++] = stride;
        }
    }
    return one;
}

static size_t runs(const owned *one)
{
    size_t count = 1u;
    for (uint32_t i = 0; i < one->axes; ++i) {
        count *= one->extents[i];
    }
    return one->run ? count : 0u;
}

static uint8_t *run_at(const owned *one, size_t index)
{
    uint8_t *at = one->start;
    for (uint32_t i = 0; i < one->axes; ++i) {
        at += index % one->extents[i] * one->strides[i];
        index /= one->extents[i];
    }
    return at;
}

static const char *place_of(const uint8_t *bytes)
{
    const twin_arena *arena = twin_arena_of(bytes, 1u);
    return arena ? arena->name : "no memory";
}

/* The first job that owns some of these bytes, other than `but`; reading what a job reads is no conflict. */
static const job *owner_of(const uint8_t *bytes, size_t size, int written, const job *but)
{
    for (uint32_t i = 0; i < TWIN_MOST_JOBS; ++i) {
        const job *one = &engines.running[i];
        for (uint32_t k = 0; one->kernel && one != but && k < one->count; ++k) {
            const owned *window = &one->windows[k];
            for (size_t r = 0; (written || window->written) && r < runs(window); ++r) {
                const uint8_t *run = run_at(window, r);
                if (bytes < run + window->run && run < bytes + size) {
                    return one;
                }
            }
        }
    }
    return NULL;
}

void twin_demand_unowned(const void *bytes, size_t size, int written, const char *what)
{
    const job *one = owner_of((const uint8_t *)bytes, size, written, NULL);
    if (one) {
        twin_fault("TW7041", "%s, in '%s', is of a job of kernel '%s' (step '%s'), which nobody has waited for", what,
                   place_of((const uint8_t *)bytes), one->kernel, step_name(one->step));
    }
}

/* What a job reads and writes is not compared with what was read. */
static int rewritten(const job *one, const uint8_t *bytes, size_t size)
{
    for (uint32_t k = 0; k < one->count; ++k) {
        const owned *window = &one->windows[k];
        for (size_t r = 0; window->written && r < runs(window); ++r) {
            const uint8_t *run = run_at(window, r);
            if (bytes < run + window->run && run < bytes + size) {
                return 1;
            }
        }
    }
    return 0;
}

static void take(job *one, owned *window)
{
    const size_t count = runs(window);
    window->kept = (uint8_t *)malloc(count * window->run + 1u);
    if (window->kept == NULL) {
        twin_fault("TW7100", "no room for the bytes of a job");
    }
    for (size_t r = 0; r < count; ++r) {
        uint8_t *run = run_at(window, r);
        const job *other = owner_of(run, window->run, window->written, one);
        if (twin_arena_of(run, window->run) == NULL) {
            twin_fault("TW7042", "a job of kernel '%s' owns %zu bytes at %p, which are in no memory", one->kernel,
                       window->run, (void *)run);
        }
        if (other) {
            twin_fault("TW7041", "a job of kernel '%s' %s bytes in '%s' of a job of kernel '%s' (step '%s'), which nobody has "
                       "waited for", one->kernel, window->written ? "writes" : "reads", place_of(run), other->kernel,
                       step_name(other->step));
        }
        twin_move(window->kept + r * window->run, run, window->run);
        if (window->written) {
            twin_set(run, twin_pattern(JOB_FILL), window->run);
            twin_hide(run, window->run);
        }
    }
}

static void give_back(const job *one, owned *window)
{
    const size_t count = runs(window);
    for (size_t r = 0; r < count; ++r) {
        uint8_t *run = run_at(window, r);
        const uint8_t *kept = window->kept + r * window->run;
        if (!window->written && !twin_equal(kept, run, window->run) && !rewritten(one, run, window->run)) {
            twin_fault("TW7041", "bytes in '%s' changed while a job of kernel '%s' (step '%s') reads them", place_of(run),
                       one->kernel, step_name(one->step));
        }
        if (window->written) {
            if (!twin_holds(run, twin_pattern(JOB_FILL), window->run)) {
                twin_fault("TW7041", "bytes in '%s' were written while a job of kernel '%s' (step '%s') writes them",
                           place_of(run), one->kernel, step_name(one->step));
            }
            twin_unhide(run, window->run);
            twin_move(run, kept, window->run);
        }
    }
    free(window->kept);
}

void tw_rt_engine_start(uint32_t engine, const char *kernel, uint32_t cycles, int32_t part, int32_t whole,
        const tw_rt_window *windows, uint32_t count)
{
    job *one = NULL;
    uint32_t queued = 0u;
    twin_lock();
    for (uint32_t i = 0; i < TWIN_MOST_JOBS; ++i) {
        one = engines.running[i].kernel || one ? one : &engines.running[i];
        queued += engines.running[i].kernel && engines.running[i].engine == engine;
    }
    if (one == NULL || count > TWIN_MOST_WINDOWS || engine >= twin.machine.compute_count) {
        twin_fault("TW7100", "no room for a job of kernel '%s' with %u operands", kernel, count);
    }
    if (queued >= twin.machine.queues[engine] * twin.machine.cores) {
        twin_fault("TW7043", "kernel '%s' starts a job while its engine has %u: a wait is missing", kernel, queued);
    }
    const uint64_t begins = twin_now() > engines.engine_free[engine] ? twin_now() : engines.engine_free[engine];
    const uint64_t spent = whole > 0 ? (uint64_t)cycles * (uint32_t)part / (uint32_t)whole : cycles;
    memset(one, 0, sizeof *one);
    one->engine = engine;
    one->step = twin_step_now();
    one->number = ++engines.started;
    one->ends = begins + spent;
    one->count = count;
    for (uint32_t i = 0; i < count; ++i) {
        one->windows[i] = laid_out(&windows[i]);
    }
    one->kernel = kernel;
    for (uint32_t i = 0; i < count; ++i) {
        take(one, &one->windows[i]);
    }
    engines.engine_free[engine] = one->ends;
    twin_event("J %u %llu %llu %u\n", engine, (unsigned long long)begins, (unsigned long long)one->ends, one->step);
    twin_unlock();
}

void tw_rt_engine_wait(uint32_t engine, int32_t behind)
{
    uint64_t ends = 0u;
    twin_lock();
    for (;;) {
        job *oldest = NULL;
        int32_t left = 0;
        for (uint32_t i = 0; i < TWIN_MOST_JOBS; ++i) {
            job *one = &engines.running[i];
            if (one->kernel && one->engine == engine) {
                ++left;
                oldest = oldest == NULL || one->number < oldest->number ? one : oldest;
            }
        }
        if (left <= behind || oldest == NULL) {
            break;
        }
        for (uint32_t i = 0; i < oldest->count; ++i) {
            give_back(oldest, &oldest->windows[i]);
        }
        ends = oldest->ends > ends ? oldest->ends : ends;
        oldest->kernel = NULL;
    }
    twin_wait_until(ends);
    twin_unlock();
}

/* A job ends early where copies do, and otherwise when its cycles are over. */
uint32_t tw_rt_engine_poll(uint32_t engine)
{
    uint32_t left = 0u;
    twin_lock();
    for (uint32_t i = 0; i < TWIN_MOST_JOBS; ++i) {
        const job *one = &engines.running[i];
        left += one->kernel && one->engine == engine && twin.mode != TWIN_EAGER && one->ends > twin_now();
    }
    twin_unlock();
    return left;
}

void twin_engines_begin(void)
{
    memset(&engines, 0, sizeof engines);
}

void twin_engines_end(void)
{
    for (uint32_t i = 0; i < TWIN_MOST_JOBS; ++i) {
        const job *one = &engines.running[i];
        if (one->kernel) {
            twin_fault("TW7040", "a job of kernel '%s' (step '%s') was never waited for", one->kernel, step_name(one->step));
        }
    }
}
