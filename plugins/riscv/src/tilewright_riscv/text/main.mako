/* Runs the network '${p}' on the cluster: inputs are linked in, answers and cycles are said to the host. */
#include "${p}.h"
#include "metal.h"
#include "tw_rt.h"

#include <string.h>

enum { SETS = ${sets}, STEPS = ${steps}, SAID_AT_ONCE = 256 };

% for index, area in enumerate(areas):
static TW_SECTION(".bss.tw.${area.memory}") TW_ALIGNED(${align}) uint8_t memory_${index}[${area.size_bytes}u]; /* ${area.name} */
% endfor
% for pool in constants:
% if pool.base in far:
static TW_SECTION(".bss.tw.l3") TW_ALIGNED(${align}) uint8_t far_${pool.base}[${pool.size_bytes}u];
% endif
% endfor
% for blob in blobs:
extern const uint8_t tw_linked_${blob.base}[];
% endfor
extern const uint8_t tw_linked_inputs[];

static ${p}_ctx ctx;
static ${p}_pools pools;
static ${p}_constants constants;
static ${p}_inputs inputs;
static ${p}_outputs outputs;
static uint32_t cycles, begun, spent[STEPS + 1];
static uint8_t part[SAID_AT_ONCE] TW_ALIGNED(4);
% if records:

/* What every step writes. */
static const struct {
    uint32_t step;
    const uint8_t *bytes;
    uint32_t size;
} records[] = {
% for record in records:
    {${record.step}u, memory_${record.area} + ${record.offset_bytes}u, ${record.size_bytes}u},
% endfor
};
% endif

static void put(uint8_t *target, const uint8_t *source, uint32_t bytes)
{
    if (tw_is_far(target) || tw_is_far(source)) {
        tw_rt_wait(tw_rt_copy(target, source, bytes, 1u, bytes, bytes));
    } else {
        memcpy(target, source, bytes);
    }
}

static void say(const uint8_t *source, uint32_t bytes)
{
    while (bytes) {
        const uint32_t size = bytes < SAID_AT_ONCE ? bytes : SAID_AT_ONCE;
        put(part, source, size);
        tw_say_bytes(part, size);
        source += size;
        bytes -= size;
    }
}

% if mapped and not records:
/* Tensors that have a place in the pools are put and read there: what is counted is the network, not its copies. */
static void use_places(void)
{
    const ${p}_mapped_inputs in = ${p}_map_inputs(&pools);
    const ${p}_outputs out = ${p}_map_outputs(&pools);
    (void)in, (void)out;
% for area in areas:
% if area.role in ("input", "output"):
<% one = ("in." if area.role == "input" else "out.") + area.assign.split(".")[1] %>\
    if (${one} != NULL) {
        ${area.assign} = ${one};
    }
% endif
% endfor
}

% endif
% if records and untraced:
static uint32_t set_now;

% endif
/* Core 0 calls it, while the others wait. */
static int on_step(void *user, uint32_t step, tw_phase phase)
{
    (void)user;
    if (phase == TW_STEP_BEGIN) {
        begun = tw_cycles();
        return 0;
    }
    spent[step] += tw_cycles() - begun;
% if records and untraced:
    if (set_now < ${untraced}u) {
        return 0;
    }
% endif
% if records:
    for (uint32_t i = 0; i < sizeof records / sizeof records[0]; ++i) {
        if (records[i].step == step) {
            tw_say("\nTW trace ");
            say(records[i].bytes, records[i].size);
        }
    }
% endif
    return 0;
}

static const tw_hooks watching = {NULL, on_step};

static int on_core(void)
{
    const uint32_t start = tw_cycles();
    const tw_status status = ${p}_run(&ctx, &inputs, &outputs);
    if (tw_rt_core() == 0u) {
        cycles = tw_cycles() - start;
    }
    return status == TW_OK ? 0 : 3;
}

static int infer(uint32_t set, const tw_hooks *hooks)
{
% if records and untraced:
    set_now = set;
% endif
    const uint8_t *source = tw_linked_inputs + set * ${sum(area.size_bytes for area in areas if area.role == "input")}u;
    if (${p}_init(&ctx, &pools, ${state.replace("areas[", "memory_").replace("].base", "")}, &constants, hooks) != TW_OK || ${p}_reset_state(&ctx) != TW_OK) {
        return 3;
    }
% for index, area in enumerate(areas):
% if area.role == "input":
    put((uint8_t *)(uintptr_t)${area.assign}, source, ${area.size_bytes}u);
    source += ${area.size_bytes}u;
% endif
% endfor
    (void)source;
    return tw_cluster_run(on_core);
}

static void say_count(const char *name, uint32_t number)
{
    tw_say("\nTW ");
    tw_say(name);
    tw_say(" ");
    tw_say_number(number);
}

int main(void)
{
    int status = 0;
% for blob in blobs:
    constants.${blob.base} = tw_linked_${blob.base};
% endfor
% for pool in constants:
% if pool.base in far:
    put(far_${pool.base}, ${f"tw_linked_{pool.base}" if blobs else f"{p}_const_{pool.base}"}, ${pool.size_bytes}u);
    constants.${pool.base} = far_${pool.base};
% endif
% endfor
% for index, area in enumerate(areas):
% if area.assign:
    ${area.assign} = (${area.type} *)memory_${index};
% endif
% endfor
% if mapped and not records:
    use_places();
% endif
% if not records:
    status = infer(0u, &watching); /* how long each step takes; barriers around the hooks add to the whole */
    for (uint32_t step = 0; step < STEPS; ++step) {
        say_count("step", spent[step]);
    }
% endif
    for (uint32_t set = 0; set < SETS && status == 0; ++set) {
        status = infer(set, ${"&watching" if records else "NULL"});
        tw_say("\nTW output ");
% for index, area in enumerate(areas):
% if area.role == "output":
        say((const uint8_t *)${area.assign}, ${area.size_bytes}u);
% endif
% endfor
        say_count("cycles", cycles);
    }
    say_count("stack", tw_stack_bytes());
    tw_say("\n");
    return status;
}
