/* A first program around the network '${p}': one inference of zeros, and what it took. Yours to change. */
#include "${p}.h"
#include "metal.h"
#include "tw_rt.h"

#include <string.h>

% for index, area in enumerate(areas):
static TW_SECTION(".bss.tw.${area.memory}") TW_ALIGNED(${align}) uint8_t memory_${index}[${area.size_bytes}u]; /* ${area.name} */
% endfor
% for pool in constants:
% if pool.base in far:
static TW_SECTION(".bss.tw.l3") TW_ALIGNED(${align}) uint8_t far_${pool.base}[${pool.size_bytes}u];
% endif
% endfor

static ${p}_ctx ctx;
static ${p}_inputs inputs;
static ${p}_outputs outputs;
static uint32_t cycles;

/* On every core of the cluster. */
static int infer(void)
{
    const uint32_t start = tw_cycles();
    const tw_status status = ${p}_run(&ctx, &inputs, &outputs);
    if (tw_rt_core() == 0u) {
        cycles = tw_cycles() - start;
    }
    return (status == TW_OK) ? 0 : 1;
}

/* On one core alone. */
int main(void)
{
    ${p}_pools pools;
    ${p}_constants constants;
    int status;
    memset(&pools, 0, sizeof pools);
    memset(&constants, 0, sizeof constants); /* those that are linked in */
% for pool in constants:
% if pool.base in far:
    tw_rt_wait(tw_rt_copy(far_${pool.base}, ${p}_const_${pool.base}, ${pool.size_bytes}u, 1u, ${pool.size_bytes}u, ${pool.size_bytes}u));
    constants.${pool.base} = far_${pool.base}; /* in a product they are in the external RAM already */
% endif
% endfor
% for index, area in enumerate(areas):
% if area.assign:
    ${area.assign} = (${area.type} *)memory_${index};
% endif
% if area.role == "input" and area.memory not in far:
    memset(memory_${index}, 0, sizeof memory_${index});
% endif
% endfor
    if (${p}_init(&ctx, &pools, ${state.replace("areas[", "memory_").replace("].base", "")}, &constants, NULL) != TW_OK || ${p}_reset_state(&ctx) != TW_OK) {
        return 1;
    }
    status = tw_cluster_run(infer);
    tw_say("cycles ");
    tw_say_number(cycles);
    tw_say("\nbytes of a stack ");
    tw_say_number(tw_stack_bytes());
    tw_say("\n");
    return status;
}
