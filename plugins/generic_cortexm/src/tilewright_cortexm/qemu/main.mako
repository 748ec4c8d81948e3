/* Runs the network '${p}' on an emulated board: reads inputs.bin, writes outputs.bin, stack.bin and, if asked, trace.bin. */
#include "${p}.h"

#include "board.h"

#include <string.h>

enum { FRONT = ${align}, BACK = 64, CANARY = 0xC5 };

/* Memory with canaries on both sides. */
% for index, area in enumerate(areas):
static TW_ALIGNED(${align}) uint8_t memory_${index}[FRONT + ${area.size_bytes}u + BACK];
% endfor
static const struct area {
    const char *name;
    size_t bytes;
    uint8_t *base;
} areas[] = {
% for index, area in enumerate(areas):
    {"${area.name}", ${area.size_bytes}u, memory_${index} + FRONT},
% endfor
    {"", 0u, NULL},
};
enum { AREAS = ${len(areas)}, STEPS = ${steps}, SETS = ${sets} };
% for index, blob in enumerate(blobs):
static TW_ALIGNED(${align}) uint8_t blob_${index}[${blob.size_bytes}u];
% endfor

static ${p}_ctx ctx;
static ${p}_pools pools;
static ${p}_constants constants;
static ${p}_inputs inputs;
static ${p}_outputs outputs;
static uintptr_t caller;              /* stack pointer of whoever runs the network */
static uint32_t stack_bytes[STEPS + 1]; /* below it: in the whole run, then while each step ran */
% if records:
static int trace;

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
    memset(area->base - FRONT, CANARY, FRONT);
    memset(area->base, value, area->bytes);
    memset(area->base + area->bytes, CANARY, BACK);
}

static void check(const struct area *area)
{
    for (size_t i = 0; i < BACK; ++i) {
        if (area->base[area->bytes + i] != CANARY) {
            board_fail("written beyond its end: ", area->name);
        }
        if ((area->base - BACK)[i] != CANARY) {
            board_fail("written before its start: ", area->name);
        }
    }
}

% if records and untraced:
static unsigned set_now;

% endif
static int on_step(void *user, uint32_t step, tw_phase phase)
{
    static uintptr_t pointer;
    (void)user;
    if (phase == TW_STEP_BEGIN) {
        pointer = board_paint_stack();
        return 0;
    }
    stack_bytes[step + 1u] = (uint32_t)(caller - board_stack_reached(pointer));
% if records and untraced:
    if (set_now < ${untraced}u) {
        return 0;
    }
% endif
% if records:
    for (size_t i = 0; i < sizeof records / sizeof records[0]; ++i) {
        if (records[i].step == step) {
            board_write(trace, areas[records[i].area].base + records[i].offset, records[i].bytes);
        }
    }
% endif
    return 0;
}

static const tw_hooks watching = {NULL, on_step};

% if traced:
static int rows_file;

static void keep_rows(const void *bytes, size_t size)
{
    board_write(rows_file, bytes, size);
}

${see_rows}

% endif
% if by_rows and (records or traced):
${by_rows}

% endif
static void infer(unsigned set, int source, const tw_hooks *hooks)
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
% if traced:
    see_no_rows(set);
% endif
    if (status == TW_OK) {
        caller = board_paint_stack();
        status = ${"run(set)" if by_rows and (records or traced) else f"{p}_run(&ctx, &inputs, &outputs)"};
        if (hooks == NULL) {
            stack_bytes[0] = (uint32_t)(caller - board_stack_reached(caller));
        }
    }
    if (status != TW_OK) {
        board_say("a function of the network returned an error\n");
        board_exit(3);
    }
    for (size_t i = 0; i < AREAS; ++i) {
        check(&areas[i]);
    }
}

static void infer_all(int sets, const tw_hooks *hooks)
{
    const int source = board_open("inputs.bin", 0);
    const int target = board_open("outputs.bin", 1);
    for (int set = 0; set < sets; ++set) {
        infer((unsigned)set, source, hooks);
% for index, area in enumerate(areas):
% if area.role == "output":
        board_write(target, areas[${index}].base, areas[${index}].bytes);
% endif
% endfor
    }
    board_close(target);
    board_close(source);
}

int main(void)
{
    int file;
% for index, blob in enumerate(blobs):
    file = board_open("${blob.file}", 0);
    board_read(file, blob_${index}, ${blob.size_bytes}u);
    board_close(file);
    constants.${blob.base} = blob_${index};
% endfor
% for index, area in enumerate(areas):
% if area.assign:
    ${area.assign} = (${area.type} *)areas[${index}].base;
% endif
% endfor
% if records or traced:
% if records:
    trace = board_open("trace.bin", 1);
% endif
% if traced:
    rows_file = board_open("rows.bin", 1);
% endif
    infer_all(SETS, &watching);
% if records:
    board_close(trace);
% endif
% if traced:
    board_close(rows_file);
% endif
% else:
    infer_all(1, &watching); /* the stack of every step */
    infer_all(SETS, NULL);   /* as in the application: what is counted */
% endif
    file = board_open("stack.bin", 1);
    board_write(file, stack_bytes, sizeof stack_bytes);
    board_close(file);
    return 0;
}
