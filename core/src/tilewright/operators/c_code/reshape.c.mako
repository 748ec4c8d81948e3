#include "functions/tw_place.h"

/* Element by element, for the rare strides that no nest of loops has in common. */
TW_KERNEL void ${function}(int32_t count,
    int32_t x_rank, const int32_t *x_extents, const int32_t *x_steps,
    int32_t y_rank, const int32_t *y_extents, const int32_t *y_steps, const ${element} *x, ${element} *y)
{
    for (int32_t i = 0; i < count; ++i) {
        y[tw_place(i, y_rank, y_extents, y_steps)] = x[tw_place(i, x_rank, x_extents, x_steps)];
    }
}
