${banner(f"{p}_selftest.c", "a program that runs embedded vectors: exit status 0 is right, 1 is wrong")}
#include "${p}.h"

#include <stddef.h>
% if floats:
#include <math.h>
% endif
% if exact:
#include <string.h>
% endif
% if program.pools:
% for pool in program.pools:

#ifndef ${P}_POOL_${pool.base.upper()}_ATTR
${macro(f"{P}_POOL_{pool.base.upper()}_ATTR", f'TW_SECTION("{sections[pool.base]}")')}
#endif
${array(f"static {P}_POOL_{pool.base.upper()}_ATTR TW_ALIGNED({pool.align}) uint8_t", pool.base, f"{P}_POOL_{pool.base.upper()}_SIZE" + ("" if pool.size_bytes else " + 1u"), ";")}
% endfor
% endif
% if program.state_bytes:
static TW_ALIGNED(${state_align}) uint8_t state[${P}_STATE_SIZE];
% endif
% for index, vector in enumerate(vectors):

% for port in inputs:
static const TW_ALIGNED(16) ${port.type} in_${index}_${port.member}[${port.length}] = {
${vector["inputs"][port.value]}
};
% endfor
% for port in outputs:
static const ${port.type} out_${index}_${port.member}[${port.length}] = {
${vector["outputs"][port.value]}
};
% endfor
% endfor

% for port in outputs:
static TW_ALIGNED(16) ${port.type} got_${port.member}[${port.length}];
% endfor
% for each in floats:
% if each["functions"]:

${each["functions"]}
% endif

static int close_enough_${each["kind"]}(const ${each["type"]} *got, const ${each["type"]} *expected, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        ${broken(2, f"if (!({each['size']}({each['load']('got[i]')} - {each['load']('expected[i]')})", f"<= ({each['absolute']} + ({each['relative']} * {each['size']}({each['load']('expected[i]')}))))) {{")}
            return 0;
        }
    }
    return 1;
}
% endfor

int main(void)
{
    ${p}_ctx ctx;
    ${broken(1, f"const {p}_pools pools =", f"{{{', '.join(pool.base for pool in program.pools) or 'NULL'}}};")}
    ${broken(1, f"const {p}_outputs outputs =", "{" + (", ".join(f"got_{port.member}" for port in outputs) or "NULL") + "};")}
    if (${p}_init(&ctx, &pools, ${"state" if program.state_bytes else "NULL"}, NULL, NULL) != TW_OK) {
        return 1;
    }
% for index, vector in enumerate(vectors):
    {
        ${broken(2, f"const {p}_inputs inputs =", "{" + (", ".join(f"in_{index}_{port.member}" for port in inputs) or "NULL") + "};")}
        ${broken(2, f"if (({p}_reset_state(&ctx) != TW_OK)", f"|| ({p}_run(&ctx, &inputs, &outputs) != TW_OK)) {{")}
            return 1;
        }
% for port in outputs:
% if port.dtype.is_float:
        ${broken(2, f"if (!close_enough_{port.dtype.value}(got_{port.member}, out_{index}_{port.member},", f"{port.macro}_ELEMENTS)) {{")}
% else:
        ${broken(2, f"if (memcmp(got_{port.member}, out_{index}_{port.member},", f"{port.macro}_SIZE) != 0) {{")}
% endif
            return 1;
        }
% endfor
    }
% endfor
    return 0;
}
