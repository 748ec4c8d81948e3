${banner(f"{p}_weights.c", "constants")}
#include "${p}.h"
% for pool in program.constants:

#ifndef ${P}_CONST_${pool.base.upper()}_ATTR
#  define ${P}_CONST_${pool.base.upper()}_ATTR TW_SECTION("${sections[pool.base]}")
#endif
${P}_CONST_${pool.base.upper()}_ATTR TW_ALIGNED(${max(pool.align, 16)}) const uint8_t ${p}_const_${pool.base}[${P}_CONST_${pool.base.upper()}_SIZE] = {
${bytes_of[pool.base]}
};
% endfor
