<%
    pools = [index for index, area in enumerate(areas) if area.role == "pool"]
    guarded = pools[-most_guarded:] # the nearest ones stand last
%>\
/* Runs the network '${p}' on QEMU: reads order.bin and inputs.bin, writes outputs.bin, counts.bin and, if asked, trace.bin. */
#include "${p}.h"

#include "board.h"

#include <string.h>

enum { ALIGN = ${align}, CANARY = 0xC5, BACK = 64, AREAS = ${len(areas)}, SETS = ${sets} };
#define WHOLE(bytes, unit) (((bytes) + (unit) - 1u) / (unit) * (unit))

/* Memories of the target, each with a guard behind it, which is the one before the next. */
static struct {
% for index in guarded:
    uint8_t memory_${index}[WHOLE(${areas[index].size_bytes}u, PAGE) + GUARD];
% endfor
    uint8_t end[PAGE];
} memories __attribute__((section(".memories"), aligned(PAGE)));

/* Everything else has canaries on both sides. */
% for index, area in enumerate(areas):
% if index not in guarded:
static TW_ALIGNED(${align}) uint8_t area_${index}[ALIGN + WHOLE(${area.size_bytes}u, ALIGN) + BACK];
% endif
% endfor
% for index, blob in enumerate(blobs):
static uint8_t blob_${index}[${blob.size_bytes}u] __attribute__((section(".blobs"), aligned(${align})));
% endfor

static const struct area {
    const char *name;
    size_t bytes;
    uint8_t *room;
    uint8_t *base;
    uint8_t *end; /* behind the last byte of the room */
} areas[] = {
% for index, area in enumerate(areas):
% if index in guarded:
<%  room = f"memories.memory_{index}"; size = f"{area.size_bytes}u" %>\
    {"${area.name}", ${size}, ${room}, ${room} + WHOLE(${size}, PAGE) - WHOLE(${size}, ALIGN), ${room} + WHOLE(${size}, PAGE)},
% else:
    {"${area.name}", ${area.size_bytes}u, area_${index}, area_${index} + ALIGN, area_${index} + sizeof area_${index}},
% endif
% endfor
    {"", 0u, NULL, NULL, NULL},
};

const struct board_memory board_memories[] = {
% for index in guarded:
<%  room = f"memories.memory_{index}"; is_near = int(areas[index].memory == near != "") %>\
    {"${areas[index].name}", ${room}, ${room} + sizeof ${room} - GUARD, ${is_near}},
% endfor
    {"", NULL, NULL, 0},
};
const uint32_t board_memory_count = ${len(guarded)}u;

static ${p}_ctx ctx;
static ${p}_pools pools;
static ${p}_constants constants;
static ${p}_inputs inputs;
static ${p}_outputs outputs;
% if records:
static int trace;
% if untraced:
static unsigned set_now;
% endif

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

static void fill(const struct area *area, int value)
{
    memset(area->room, CANARY, (size_t)(area->end - area->room));
    memset(area->base, value, area->bytes);
}

static void check(const struct area *area)
{
    for (const uint8_t *byte = area->room; byte < area->end; ++byte) {
        if (byte == area->base) {
            byte += area->bytes;
        }
        if (byte < area->end && *byte != CANARY) {
            board_fail(byte < area->base ? "TW7110 bytes written before the start of "
                                         : "TW7110 bytes written behind the end of ", area->name);
        }
    }
}

% if records:
static __attribute__((noinline)) void record(uint32_t step)
{
% if untraced:
    if (set_now < ${untraced}u) {
        return;
    }
% endif
    for (size_t i = 0; i < sizeof records / sizeof records[0]; ++i) {
        if (records[i].step == step) {
            board_write(trace, areas[records[i].area].base + records[i].offset, records[i].bytes);
        }
    }
}
% else:
static __attribute__((noinline)) void record(uint32_t step)
{
    (void)step;
}
% endif

static int on_step(void *user, uint32_t step, tw_phase phase)
{
    (void)user;
    board_begin_hook();
    if (phase == TW_STEP_END) {
        record(step);
    }
    board_end_hook(phase == TW_STEP_BEGIN ? step : STEPS);
    return 0;
}

static const tw_hooks watching = {NULL, on_step};

static int on_hart(void)
{
    return (int)${p}_run(&ctx, &inputs, &outputs);
}

static void infer(unsigned set, int source, int target, const tw_hooks *hooks)
{
    tw_status status;
    (void)source; /* where all inputs are bound */
% if records and untraced:
    set_now = set;
% endif
% if stream:
    static const unsigned char lasting[] = {${", ".join(str(int(area.lasting)) for area in areas)}};
    status = TW_OK;
    for (size_t i = 0; i < AREAS; ++i) {
        if (set == 0u || !lasting[i]) {
            fill(&areas[i], (int)(0xA5u + 17u * set) & 0xFF);
        }
    }
    if (set == 0u) { /* the sets are one stream */
        status = ${p}_init(&ctx, &pools, ${state}, &constants, hooks);
    }
    if (set == 0u && status == TW_OK) {
        status = ${p}_reset_state(&ctx);
    }
% else:
    for (size_t i = 0; i < AREAS; ++i) {
        fill(&areas[i], (int)(0xA5u + 17u * set) & 0xFF);
    }
    status = ${p}_init(&ctx, &pools, ${state}, &constants, hooks);
    if (status == TW_OK) {
        status = ${p}_reset_state(&ctx);
    }
% endif
% for index, area in enumerate(areas):
% if area.role == "input":
    board_read(source, areas[${index}].base, areas[${index}].bytes);
% endif
% endfor
    if (status == TW_OK) {
        status = (tw_status)board_team(on_hart);
    }
    if (status != TW_OK) {
        board_fail("a function of the network returned an error", "");
    }
    for (size_t i = 0; i < AREAS; ++i) {
        check(&areas[i]);
    }
% for index, area in enumerate(areas):
% if area.role == "output":
    board_write(target, areas[${index}].base, areas[${index}].bytes);
% endif
% endfor
}

/* For each hart: the stack that it used, then what it executed in each step and outside all of them. */
static void write_counts(void)
{
    const int file = board_open("counts.bin", 1);
    for (uint32_t hart = 0; hart < TEAM; ++hart) {
        const uint64_t stack = board_stack_bytes(hart);
        board_write(file, &stack, sizeof stack);
        for (uint32_t step = 0; step <= STEPS; ++step) {
            const uint64_t spent = board_instructions(hart, step);
            board_write(file, &spent, sizeof spent);
        }
    }
    board_close(file);
}

int main(void)
{
    uint32_t order = BOARD_ASCENDING; /* in this one hooks are called, in the others there are only the network's barriers */
    int source, target;
    source = board_open("order.bin", 0);
    board_read(source, &order, sizeof order);
    board_close(source);
% for index, blob in enumerate(blobs):
    source = board_open("${blob.file}", 0);
    board_read(source, blob_${index}, ${blob.size_bytes}u);
    board_close(source);
    constants.${blob.base} = blob_${index};
% endfor
% for index, area in enumerate(areas):
% if area.assign:
    ${area.assign} = (${area.type} *)areas[${index}].base;
% endif
% endfor
    board_open_team((enum board_order)order);
    source = board_open("inputs.bin", 0);
    target = board_open("outputs.bin", 1);
% if records:
    trace = order == BOARD_ASCENDING ? board_open("trace.bin", 1) : 0;
% endif
    for (unsigned set = 0; set < SETS; ++set) {
        infer(set, source, target, order == BOARD_ASCENDING ? &watching : NULL);
        if (set == 0u) {
            write_counts();
        }
    }
% if records:
    if (order == BOARD_ASCENDING) {
        board_close(trace);
    }
% endif
    board_close(target);
    board_close(source);
    return 0;
}
