#include "prelude.h"
#include <stdint.h>

/* A copy of x, and then one update after the other; a place outside it changes nothing. */
TW_KERNEL void ${function}(int32_t elements, int32_t count, int32_t slice, const ${c_type} *x, const int64_t *places,
                           const ${c_type} *updates, ${c_type} *y)
{
    for (int32_t i = 0; i < elements; ++i) {
        y[i] = x[i];
    }
    for (int32_t i = 0; i < count; ++i) {
        if ((places[i] < 0) || (places[i] > (elements - slice))) {
            continue;
        }
        ${c_type} *const target = y + places[i];
        for (int32_t k = 0; k < slice; ++k) {
            const ${c_type} update = updates[(i * slice) + k];
% if expression == "update":
            target[k] = update;
% else:
            const ${c_type} old = target[k];
            target[k] = ${expression};
% endif
        }
    }
}
