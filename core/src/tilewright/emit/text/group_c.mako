/* ${app}_pools.c - the memory that ${len(members)} networks share. */
#include "${app}_pools.h"

% for pool in pools:
#ifndef ${APP}_POOL_${pool.memory.upper()}_ATTR
#  define ${APP}_POOL_${pool.memory.upper()}_ATTR TW_SECTION(".bss.tw.${pool.memory}")
#endif
static ${APP}_POOL_${pool.memory.upper()}_ATTR TW_ALIGNED(${pool.align}) uint8_t ${app}_${pool.memory}[${APP}_POOL_${pool.memory.upper()}_SIZE];

% endfor
${app}_pools ${app}_static_pools(void)
{
    ${app}_pools pools;

% for pool in pools:
    pools.${pool.memory} = ${app}_${pool.memory};
% endfor
    return pools;
}
% for prefix in members:

${prefix}_pools ${app}_${prefix}_pools(const ${app}_pools *pools)
{
    ${prefix}_pools part = {0};

% for pool in pools:
% if prefix in pool.offsets:
    part.${pool.memory} = (uint8_t *)pools->${pool.memory} + ${pool.offsets[prefix]}u;
% endif
% endfor
    return part;
}
% endfor
