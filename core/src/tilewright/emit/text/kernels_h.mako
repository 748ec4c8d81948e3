${banner(kernels_header, "kernels, for one source only: all are static")}
% if program.licences:
${licences}
% endif
#ifndef ${P}_KERNELS_H
#define ${P}_KERNELS_H

% if program.team:
#include "tw_rt.h"

% endif
% for name in includes:
#include ${name}
% endfor

${kernels}

#endif
