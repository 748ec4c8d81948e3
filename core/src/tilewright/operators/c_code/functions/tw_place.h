#pragma once
#include "../prelude.h"
#include <stdint.h>

/* Where element `number` of a walk is; extents and steps innermost first. */
TW_KERNEL int32_t tw_place(int32_t number, int32_t rank, const int32_t *extents, const int32_t *steps)
{
    int32_t place = 0;
    for (int32_t axis = 0; axis < rank; ++axis) {
        place += number % extents[axis] * steps[axis];
        number /= extents[axis];
    }
    return place;
}
