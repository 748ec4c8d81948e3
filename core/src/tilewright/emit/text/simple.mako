${banner(f"{p}_simple.c", "one function with memory of its own")}
#include "${p}.h"

#include <stddef.h>
% for pool in program.pools:

#ifndef ${P}_POOL_${pool.base.upper()}_ATTR
${macro(f"{P}_POOL_{pool.base.upper()}_ATTR", f'TW_SECTION("{sections[pool.base]}")')}
#endif
${array(f"static {P}_POOL_{pool.base.upper()}_ATTR TW_ALIGNED({pool.align}) uint8_t", f"{p}_pool_{pool.base}", f"{P}_POOL_{pool.base.upper()}_SIZE" + ("" if pool.size_bytes else " + 1u"), ";")}
% endfor

${head("tw_status", p, simple_parameters)}
{
% if lasting:
    static ${p}_ctx tw_ctx; /* kept, so that constants are copied once */
    static int tw_ready;
% else:
    ${p}_ctx tw_ctx;
% endif
    ${p}_pools tw_pools;
    ${p}_inputs tw_in;
    ${p}_outputs tw_out;
    tw_status tw_result;

% for pool in program.pools:
    tw_pools.${pool.base} = ${p}_pool_${pool.base};
% endfor
% if not program.pools:
    tw_pools.none = NULL;
% endif
% for port in inputs:
    tw_in.${port.member} = ${port.member};
% endfor
% if not inputs:
    tw_in.none = NULL;
% endif
% for port in outputs:
    tw_out.${port.member} = ${port.member};
% endfor
% if not outputs:
    tw_out.none = NULL;
% endif
% if lasting:
    tw_result = tw_ready ? TW_OK : ${p}_init(&tw_ctx, &tw_pools, NULL, NULL, NULL);
    tw_ready = tw_result == TW_OK;
% else:
    tw_result = ${p}_init(&tw_ctx, &tw_pools, NULL, NULL, NULL);
% endif
    return (tw_result == TW_OK) ? ${p}_run(&tw_ctx, &tw_in, &tw_out) : tw_result;
}
