/* Runs the network '${p}' on a twin of its target: reads inputs.bin, writes outputs.bin and, if asked, trace.bin. */
#include "${p}.h"

#include "twin.h"
#include "tw_rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static twin_arena arenas[] = {
% for arena in machine.arenas:
    {"${arena.name}", ${arena.memory}u, ${arena.size_bytes}u, ${hex(arena.address)}u, ${int(arena.read_only)}, NULL, 0u, NULL},
% endfor
    {"", 0u, 0u, 0u, 0, NULL, 0u, NULL},
};

static const twin_tile tiles[] = {
% for tile in machine.tiles:
    {${tile.arena}u, ${tile.offset_bytes}u, ${tile.size_bytes}u},
% endfor
    {0u, 0u, 0u},
};

static const twin_path paths[] = {
% for path in machine.paths:
    {"${path.name}", ${path.source}u, ${path.target}u, ${path.engine}u, ${path.max_bytes}u, ${path.align}u, ${path.dimensions}u, ${path.channels}u, ${path.queues}u},
% endfor
    {"", 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u},
};

static const char *const memories[] = {
% for name in machine.memories:
    "${name}",
% endfor
    "",
};

static const char *const steps[] = {
% for name in machine.steps:
    "${name}",
% endfor
    "",
};

static const uint32_t queues[] = {${", ".join(f"{queue}u" for queue in machine.queues)}};

static const twin_machine machine = {
    arenas, ${len(machine.arenas)}u, tiles, ${len(machine.tiles)}u, memories, ${len(machine.memories)}u,
    paths, ${len(machine.paths)}u, ${len(machine.engines)}u, queues, ${len(machine.queues)}u, steps, ${len(machine.steps)}u,
    ${machine.cores}u, ${int(machine.dma_core)},
};

% for index, area in enumerate(areas):
% if area.lasting:
static uint8_t lasting_${index}[${area.size_bytes}u]; /* ${area.name}, from run to run */
% endif
% endfor
static ${p}_ctx ctx;
static ${p}_inputs inputs;
static ${p}_outputs outputs;

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "%s%s\n", what, name);
    exit(2);
}

static FILE *open_file(const char *name, const char *mode)
{
    FILE *file = fopen(name, mode);
    if (file == NULL) {
        fail("cannot open ", name);
    }
    return file;
}

% if blobs or any(area.role == "input" for area in areas):
static void read_file(FILE *file, void *target, size_t bytes)
{
    if (fread(target, 1, bytes, file) != bytes) {
        fail("cannot read ", "a file of the harness");
    }
}
% endif

/* Whatever these bytes mean to the sanitizer. */
static void write_file(FILE *file, const uint8_t *source, size_t bytes)
{
    uint8_t part[1024];
    while (bytes) {
        size_t size = bytes < sizeof part ? bytes : sizeof part;
        twin_move(part, source, size);
        if (fwrite(part, 1, size, file) != size) {
            fail("cannot write ", "a file of the harness");
        }
        source += size;
        bytes -= size;
    }
}
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

static void record(FILE *file, uint32_t step)
{
    for (size_t i = 0; i < sizeof records / sizeof records[0]; ++i) {
        if (records[i].step == step) {
            write_file(file, arenas[records[i].area].base + records[i].offset, records[i].bytes);
        }
    }
}
% endif

% if guard:

enum { AREAS = ${len(areas)} };

static const uint8_t *area_base(size_t area)
{
    return arenas[area].base;
}

static size_t area_bytes(size_t area)
{
    return arenas[area].bytes;
}

static void bytes_copy(uint8_t *target, const uint8_t *source, size_t bytes)
{
    twin_move(target, source, bytes);
}

static int bytes_equal(const uint8_t *one, const uint8_t *other, size_t bytes)
{
    return twin_equal(one, other, bytes);
}
${guard}
% endif
% if guard and untraced:

static unsigned set_now;
% endif
static int on_step(void *user, uint32_t step, tw_phase phase)
{
% if guard and untraced:
    if (set_now < ${untraced}u) {
        twin_step(step, phase == TW_STEP_END);
        return 0;
    }
% endif
% if guard:
    if (phase == TW_STEP_BEGIN && tw_rt_core() == 0u) {
        keep_all();
    }
    if (phase == TW_STEP_END && tw_rt_core() == 0u) {
        demand_others_kept(step);
    }
% endif
% if records:
    if (phase == TW_STEP_END && tw_rt_core() == 0u) {
        record((FILE *)user, step);
    }
% else:
    (void)user;
% endif
    twin_step(step, phase == TW_STEP_END);
    return 0;
}

static int on_core(void)
{
    return (int)${p}_run(&ctx, &inputs, &outputs);
}

int main(int argc, char **argv)
{
    ${p}_pools pools;
    ${p}_constants constants;
    tw_hooks hooks = {NULL, on_step};
    const tw_hooks *asked = &hooks;
    FILE *source;
    FILE *target;
    unsigned sets;
    int status;

    twin_boot(&machine, argc, argv);
    sets = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : ${sets}u;
    if (argc > 3 && strcmp(argv[3], "quiet") == 0) { /* without the barriers that hooks need */
        asked = NULL;
    }
    source = open_file("inputs.bin", "rb");
    target = open_file("outputs.bin", "wb");
% if records:
    hooks.user = open_file("trace.bin", "wb");
% endif
    memset(&pools, 0, sizeof pools);
    memset(&constants, 0, sizeof constants);
    memset(&inputs, 0, sizeof inputs);
    memset(&outputs, 0, sizeof outputs);
% for pool in constants:
<% index = len(areas) + loop.index %>\
% if blobs:
    {
        FILE *blob = open_file("${blobs[loop.index].file}", "rb");
        read_file(blob, arenas[${index}].base, arenas[${index}].bytes);
        fclose(blob);
    }
% else:
    memcpy(arenas[${index}].base, ${p}_const_${pool.base}, sizeof ${p}_const_${pool.base});
% endif
    constants.${pool.base} = arenas[${index}].base;
% endfor
% for index, area in enumerate(areas):
% if area.assign:
    ${area.assign} = (${area.type} *)arenas[${index}].base;
% endif
% endfor
    twin_protect();
    for (unsigned set = 0; set < sets; ++set) {
        twin_begin();
% if guard and untraced:
        set_now = set;
% endif
% if stream:
        status = 0;
% for index, area in enumerate(areas):
% if area.lasting:
        if (set > 0u) { /* the sets are one stream */
            memcpy(arenas[${index}].base, lasting_${index}, sizeof lasting_${index});
        }
% endif
% endfor
        if (set == 0u) {
            status = (int)${p}_init(&ctx, &pools, ${state.replace("areas[", "arenas[")}, &constants, asked);
        }
        if (set == 0u && status == 0) {
            status = (int)${p}_reset_state(&ctx);
        }
% else:
        status = (int)${p}_init(&ctx, &pools, ${state.replace("areas[", "arenas[")}, &constants, asked);
        if (status == 0) {
            status = (int)${p}_reset_state(&ctx);
        }
% endif
% for index, area in enumerate(areas):
% if area.role == "input":
        read_file(source, arenas[${index}].base, arenas[${index}].bytes);
% endif
% endfor
        if (status == 0) {
            status = twin_team(on_core);
        }
        if (status != 0) {
            fprintf(stderr, "status %d\n", status);
            return 3;
        }
        twin_end();
% for index, area in enumerate(areas):
% if area.lasting:
        memcpy(lasting_${index}, arenas[${index}].base, sizeof lasting_${index});
% endif
% if area.role == "output":
        write_file(target, arenas[${index}].base, arenas[${index}].bytes);
% endif
% endfor
    }
    twin_report();
    if (fclose(target) != 0) {
        fail("cannot write ", "outputs.bin");
    }
% if records:
    if (fclose((FILE *)hooks.user) != 0) {
        fail("cannot write ", "trace.bin");
    }
% endif
    fclose(source);
    return 0;
}
