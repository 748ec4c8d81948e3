${banner(f"{p}_weights.c", "constants")}
#include "${p}.h"
% for pool in program.constants:

#ifndef ${P}_CONST_${pool.base.upper()}_ATTR
${macro(f"{P}_CONST_{pool.base.upper()}_ATTR", f'TW_SECTION("{sections[pool.base]}")')}
#endif
${array(f"{P}_CONST_{pool.base.upper()}_ATTR TW_ALIGNED({max(pool.align, 16)}) const uint8_t", f"{p}_const_{pool.base}", f"{P}_CONST_{pool.base.upper()}_SIZE", " = {")}
${bytes_of[pool.base]}
};
% endfor
