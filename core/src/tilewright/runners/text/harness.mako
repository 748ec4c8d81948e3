/* Runs the network '${p}' on this machine: reads inputs.bin, writes outputs.bin and, if asked, trace.bin. */
#include "${p}.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#  define WITH_ASAN 1
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define WITH_ASAN 1
#  endif
#endif
#ifdef WITH_ASAN
#  include <sanitizer/asan_interface.h>
#  define UNSEEN __attribute__((no_sanitize("address"), noinline))
#else
#  define UNSEEN
#  define __asan_poison_memory_region(address, bytes) ((void)(address), (void)(bytes))
#  define __asan_unpoison_memory_region(address, bytes) ((void)(address), (void)(bytes))
#endif

enum { GUARD = 64, ALIGN = ${align}, CANARY = 0xC5 };

/* Memory with canaries on both sides; under AddressSanitizer nobody may even look at them. */
struct area {
    const char *name;
    size_t bytes;
    uint8_t *base;
};

static struct area areas[] = {
% for area in areas:
    {"${area.name}", ${area.size_bytes}u, NULL},
% endfor
    {"", 0u, NULL},
};
enum { AREAS = ${len(areas)} };
% if stream:
static const int lasting[] = {${", ".join(str(int(area.lasting)) for area in areas)}};
% endif

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "%s%s\n", what, name);
    exit(2);
}

static void make(struct area *area)
{
    uint8_t *raw = (uint8_t *)malloc(area->bytes + 2u * GUARD + 2u * ALIGN);
    if (raw == NULL) {
        fail("out of memory for ", area->name);
    }
    raw += GUARD;
    raw += (ALIGN - (uintptr_t)raw % ALIGN) % ALIGN;
    area->base = raw;
    memset(raw - GUARD, CANARY, GUARD);
    memset(raw + area->bytes, CANARY, GUARD);
    __asan_poison_memory_region(raw - GUARD, GUARD);
    __asan_poison_memory_region(raw + area->bytes, GUARD);
}

static void check(const struct area *area)
{
    __asan_unpoison_memory_region(area->base - GUARD, area->bytes + 2u * GUARD);
    for (size_t i = 0; i < GUARD; ++i) {
        if (area->base[area->bytes + i] != CANARY) {
            fail("written beyond its end: ", area->name);
        }
        if ((area->base - GUARD)[i] != CANARY) {
            fail("written before its start: ", area->name);
        }
    }
    __asan_poison_memory_region(area->base - GUARD, GUARD);
    __asan_poison_memory_region(area->base + area->bytes, GUARD);
}

% if blobs or any(area.role == "input" for area in areas):
static void read_file(FILE *file, void *target, size_t bytes)
{
    if (fread(target, 1, bytes, file) != bytes) {
        fail("cannot read ", "a file of the harness");
    }
}

% endif
static void write_file(FILE *file, const void *source, size_t bytes)
{
    if (fwrite(source, 1, bytes, file) != bytes) {
        fail("cannot write ", "a file of the harness");
    }
}

static FILE *open_file(const char *name, const char *mode)
{
    FILE *file = fopen(name, mode);
    if (file == NULL) {
        fail("cannot open ", name);
    }
    return file;
}
% if blobs:

static const void *load(const char *name, size_t bytes)
{
    static struct area blob;
    FILE *file = open_file(name, "rb");
    blob.name = name;
    blob.bytes = bytes;
    make(&blob);
    read_file(file, blob.base, bytes);
    fclose(file);
    return blob.base;
}
% endif
% if records:

/* What every step writes. */
static const struct {
    uint32_t step;
    uint32_t area;
    uint32_t offset;
    uint32_t bytes;
} records[] = {
% for record in records:
    {${record.step}u, ${record.area}u, ${record.offset_bytes}u, ${record.size_bytes}u},
% endfor
};
% endif
% if guard:

static const uint8_t *area_base(size_t area)
{
    return areas[area].base;
}

static size_t area_bytes(size_t area)
{
    return areas[area].bytes;
}

/* Whatever these bytes mean to the sanitizer. */
UNSEEN static void bytes_copy(uint8_t *target, const uint8_t *source, size_t bytes)
{
#ifdef WITH_ASAN
    const volatile uint8_t *from = source;
    for (size_t i = 0; i < bytes; ++i) {
        target[i] = from[i];
    }
#else
    memcpy(target, source, bytes);
#endif
}

UNSEEN static int bytes_equal(const uint8_t *one, const uint8_t *other, size_t bytes)
{
#ifdef WITH_ASAN
    const volatile uint8_t *left = one;
    for (size_t i = 0; i < bytes; ++i) {
        if (left[i] != other[i]) {
            return 0;
        }
    }
    return 1;
#else
    return memcmp(one, other, bytes) == 0;
#endif
}
${guard}
/* For whoever finds that the program has ended in it. */
static void say_running(uint32_t step)
{
    static FILE *running;
    if (running == NULL) {
        running = open_file("${running}", "wb");
    }
    rewind(running);
    fprintf(running, "%10lu\n", (unsigned long)step);
    fflush(running);
}

static int on_step(void *user, uint32_t step, tw_phase phase)
{
    if (phase == TW_STEP_BEGIN) {
        say_running(step);
        keep_all();
    }
    if (phase == TW_STEP_END) {
        demand_others_kept(step);
    }
% if records:
    for (size_t i = 0; phase == TW_STEP_END && i < sizeof records / sizeof records[0]; ++i) {
        if (records[i].step == step) {
            write_file((FILE *)user, areas[records[i].area].base + records[i].offset, records[i].bytes);
        }
    }
% else:
    (void)user;
% endif
    return 0;
}
% endif
% if traced:

static FILE *rows_file;

static void keep_rows(const void *bytes, size_t size)
{
    write_file(rows_file, bytes, size);
}

${see_rows}
% endif

static ${p}_ctx ctx;
static ${p}_inputs inputs;
static ${p}_outputs outputs;
% if by_rows:

${by_rows}
% endif

int main(void)
{
    ${p}_pools pools;
    ${p}_constants constants;
    tw_hooks hooks = {NULL, NULL};
    FILE *source = open_file("inputs.bin", "rb");
    FILE *target = open_file("outputs.bin", "wb");
    tw_status status;

% if traced:
    rows_file = open_file("rows.bin", "wb");
% endif
% if records:
    hooks.user = open_file("trace.bin", "wb");
% endif
% if guard and not untraced:
    hooks.on_step = on_step;
% endif
    memset(&pools, 0, sizeof pools);
    memset(&constants, 0, sizeof constants);
    memset(&inputs, 0, sizeof inputs);
    memset(&outputs, 0, sizeof outputs);
    for (size_t i = 0; i < AREAS; ++i) {
        make(&areas[i]);
    }
% for blob in blobs:
    constants.${blob.base} = load("${blob.file}", ${blob.size_bytes}u);
% endfor
% for index, area in enumerate(areas):
% if area.assign:
    ${area.assign} = (${area.type} *)areas[${index}].base;
% endif
% endfor
    for (unsigned set = 0; set < ${sets}u; ++set) {
% if guard and untraced:
        hooks.on_step = set < ${untraced}u ? NULL : on_step;
% endif
% if stream:
        status = TW_OK;
        for (size_t i = 0; i < AREAS; ++i) {
            if (set == 0u || !lasting[i]) {
                memset(areas[i].base, (int)(0xA5u + 17u * set) & 0xFF, areas[i].bytes);
            }
        }
        if (set == 0u) { /* the sets are one stream: what lasts is left alone after the first */
            status = ${p}_init(&ctx, &pools, ${state}, &constants, &hooks);
        }
        if (set == 0u && status == TW_OK) {
            status = ${p}_reset_state(&ctx);
        }
% else:
        for (size_t i = 0; i < AREAS; ++i) {
            memset(areas[i].base, (int)(0xA5u + 17u * set) & 0xFF, areas[i].bytes);
        }
        status = ${p}_init(&ctx, &pools, ${state}, &constants, &hooks);
        if (status == TW_OK) {
            status = ${p}_reset_state(&ctx);
        }
% endif
% for index, area in enumerate(areas):
% if area.role == "input":
        read_file(source, areas[${index}].base, areas[${index}].bytes);
% endif
% endfor
% if traced:
        see_no_rows(set);
% endif
        if (status == TW_OK) {
            status = ${"run(set)" if by_rows else f"{p}_run(&ctx, &inputs, &outputs)"};
        }
        if (status != TW_OK) {
            fprintf(stderr, "status %d\n", (int)status);
            return 3;
        }
        for (size_t i = 0; i < AREAS; ++i) {
            __asan_unpoison_memory_region(areas[i].base, areas[i].bytes);
            check(&areas[i]);
        }
% for index, area in enumerate(areas):
% if area.role == "output":
        write_file(target, areas[${index}].base, areas[${index}].bytes);
% endif
% endfor
    }
    if (fclose(target) != 0) {
        fail("cannot write ", "outputs.bin");
    }
% if records:
    if (fclose((FILE *)hooks.user) != 0) {
        fail("cannot write ", "trace.bin");
    }
% endif
% if traced:
    if (fclose(rows_file) != 0) {
        fail("cannot write ", "rows.bin");
    }
% endif
    fclose(source);
    return 0;
}
