/* Runs the network ${p} once. Yours without conditions. */
#include "${p}.h"

#include <stdio.h>

static struct {
% for one in library.parameters:
    ${one.type} ${one.name}[${one.elements}];
% endfor
} tensors;

${entry}
{
    const tw_status status = ${p}(${", ".join(f"tensors.{one.name}" for one in library.parameters)});
    printf("${p}: status %d\n", (int)status);${end}
}
