/* ${app}_pools.h - the memory that ${len(members)} networks share.
 *
% for names in together:
 * May run at the same time: ${", ".join(names)}.
% endfor
 * Networks that are in no line together must never run at the same time: they use the same bytes, and what one
 * leaves in its inputs and outputs is gone when the other has run.
 */
#ifndef ${APP}_POOLS_H
#define ${APP}_POOLS_H

% for prefix in members:
#include "${prefix}.h"
% endfor

% for prefix, plan in members.items():
#if ${prefix.upper()}_PLAN_ID != ${f"0x{plan:08x}"}u
#  error "${prefix}.h is not the network that this group was planned with: generate the group again"
#endif
% endfor

/* In bytes, exact. */
% for pool in pools:
#define ${APP}_POOL_${pool.memory.upper()}_SIZE ${pool.size_bytes}u
#define ${APP}_POOL_${pool.memory.upper()}_ALIGN ${pool.align}u
% endfor

#ifdef __cplusplus
extern "C" {
#endif

/* Where each shared memory is. */
typedef struct {
% for pool in pools:
    void *${pool.memory};
% endfor
} ${app}_pools;

/* Memory of the program's own for all of them, in the sections that their macros name. */
${app}_pools ${app}_static_pools(void);

/* Each network's part: what its NAME_init is given. */
% for prefix in members:
${prefix}_pools ${app}_${prefix}_pools(const ${app}_pools *pools);
% endfor

#ifdef __cplusplus
}
#endif

#endif
