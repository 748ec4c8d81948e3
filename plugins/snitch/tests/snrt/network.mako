/* The network '${p}' as a program of the runtime would run it: reads inputs.bin, writes outputs.bin. */
#include "${p}.h"
#include "stub.h"
#include "tw_rt_snrt.h"

#include <stdio.h>
#include <string.h>

static ${p}_ctx ctx;
static ${p}_inputs inputs;
static ${p}_outputs outputs;
% for index, area in enumerate(areas):
static TW_ALIGNED(${align}) uint8_t memory_${index}[${area.size_bytes}u]; /* ${area.name} */
% endfor

static int infer(void)
{
    return ${p}_run(&ctx, &inputs, &outputs) == TW_OK ? 0 : 1;
}

int main(void)
{
    FILE *const source = fopen("inputs.bin", "rb"), *const target = fopen("outputs.bin", "wb");
    ${p}_pools pools;
    ${p}_constants constants;
    memset(&pools, 0, sizeof pools);
    memset(&constants, 0, sizeof constants);
% for index, area in enumerate(areas):
% if area.assign:
    ${area.assign} = (${area.type} *)memory_${index};
% endif
% endfor
% for index, area in enumerate(areas):
% if area.name == "tcdm":
    stub_near = (uintptr_t)memory_${index};
    stub_near_bytes = sizeof memory_${index};
% endif
% endfor
    for (int set = 0; set < ${sets}; ++set) {
% for index, area in enumerate(areas):
% if area.role == "input":
        if (fread(memory_${index}, 1, ${area.size_bytes}u, source) != ${area.size_bytes}u) {
            stub_fail("inputs.bin is too short");
        }
% endif
% endfor
        if (${p}_init(&ctx, &pools, NULL, &constants, NULL) != TW_OK) {
            stub_fail("the network does not begin");
        }
        stub_run(infer);
% for index, area in enumerate(areas):
% if area.role == "output":
        fwrite(memory_${index}, 1, ${area.size_bytes}u, target);
% endif
% endfor
    }
    printf("%u %u\n", stub_copies, stub_most_in_flight);
    return fclose(target) + fclose(source);
}
