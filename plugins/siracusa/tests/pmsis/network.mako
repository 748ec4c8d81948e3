/* The network '${p}' as an application of the SDK would run it: reads inputs.bin, writes outputs.bin. */
#include "${p}.h"
#include "stub.h"
#include "tw_rt.h"
#include "tw_rt_pmsis.h"

#include <stdio.h>
#include <string.h>

static ${p}_ctx ctx;
static ${p}_inputs inputs;
static ${p}_outputs outputs;
static struct pi_device cluster, ram = {1};
static uint8_t *next_l2;
static uint32_t next_ram;

/* pi_cl_l1_malloc, pi_l2_malloc, pi_ram_alloc */
static void *take(const char *memory, size_t bytes)
{
    void *taken;
    if (strcmp(memory, "l1") == 0) {
        return stub_memory(STUB_L1, STUB_L1_BYTES);
    }
    if (strcmp(memory, "l3") == 0) {
        next_ram += (uint32_t)(bytes + 63) / 64 * 64;
        return TW_PMSIS_RAM(next_ram - (uint32_t)(bytes + 63) / 64 * 64);
    }
    next_l2 = next_l2 ? next_l2 : (uint8_t *)stub_memory(STUB_L2, STUB_L2_BYTES);
    taken = next_l2;
    next_l2 += (bytes + 63) / 64 * 64;
    return taken;
}

static int infer(void)
{
    return ${p}_run(&ctx, &inputs, &outputs) == TW_OK ? 0 : 1;
}

int main(void)
{
    FILE *const source = fopen("inputs.bin", "rb"), *const target = fopen("outputs.bin", "wb");
    ${p}_pools pools;
    ${p}_constants constants;
    void *areas[${max(len(areas), 1)}];
    void *blob;
    stub_ram(8u << 20);
    tw_pmsis_set_ram(&ram);
    memset(&pools, 0, sizeof pools);
    memset(&constants, 0, sizeof constants);
% for index, area in enumerate(areas):
    areas[${index}] = take("${area.memory}", ${area.size_bytes}u);
% if area.assign:
    ${area.assign} = (${area.type} *)areas[${index}];
% endif
% endfor
% for pool in constants:
    blob = take("${"l3" if pool.base in far else "l2"}", sizeof ${p}_const_${pool.base});
% if pool.base in far:
    memcpy(stub_ram_bytes() + ((uintptr_t)blob - TW_PMSIS_RAM_BASE), ${p}_const_${pool.base}, sizeof ${p}_const_${pool.base});
% else:
    memcpy(blob, ${p}_const_${pool.base}, sizeof ${p}_const_${pool.base});
% endif
    constants.${pool.base} = blob;
% endfor
    for (int set = 0; set < ${sets}; ++set) {
% for index, area in enumerate(areas):
% if area.role == "input":
        if (fread(areas[${index}], 1, ${area.size_bytes}u, source) != ${area.size_bytes}u) {
            stub_fail("inputs.bin is too short");
        }
% endif
% endfor
        if (${p}_init(&ctx, &pools, NULL, &constants, NULL) != TW_OK || tw_pmsis_run(&cluster, infer) != 0) {
            stub_fail("the network fails");
        }
% for index, area in enumerate(areas):
% if area.role == "output":
        fwrite(areas[${index}], 1, ${area.size_bytes}u, target);
% endif
% endfor
    }
    stub_end();
    printf("%u %u\n", stub_commands, stub_most_in_flight);
    return fclose(target) + fclose(source);
}
