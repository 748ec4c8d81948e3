${banner(f"{p}_simple.c", "one function with memory of its own")}
#include "${p}.h"

#include <stddef.h>
% for pool in program.pools:

#ifndef ${P}_POOL_${pool.base.upper()}_ATTR
#  define ${P}_POOL_${pool.base.upper()}_ATTR TW_SECTION("${sections[pool.base]}")
#endif
static ${P}_POOL_${pool.base.upper()}_ATTR TW_ALIGNED(${pool.align}) uint8_t ${p}_pool_${pool.base}[${P}_POOL_${pool.base.upper()}_SIZE];
% endfor

tw_status ${p}(${simple_parameters})
{
    ${p}_ctx ctx;
    ${p}_pools pools;
    ${p}_inputs inputs;
    ${p}_outputs outputs;
    tw_status status;

% for pool in program.pools:
    pools.${pool.base} = ${p}_pool_${pool.base};
% endfor
% if not program.pools:
    pools.none = NULL;
% endif
% for port in inputs:
    inputs.${port.member} = ${port.member};
% endfor
% if not inputs:
    inputs.none = NULL;
% endif
% for port in outputs:
    outputs.${port.member} = ${port.member};
% endfor
% if not outputs:
    outputs.none = NULL;
% endif
    status = ${p}_init(&ctx, &pools, NULL, NULL, NULL);
    return status == TW_OK ? ${p}_run(&ctx, &inputs, &outputs) : status;
}
