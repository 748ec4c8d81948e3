#include "prelude.h"
#include <stdint.h>

/* One row: 2^-((max - x + 16) / 32) in place of the exponential. In groups `max` is the largest so far. */
TW_KERNEL void ${function}(int32_t count, const ${x_type} *x, int32_t x_step, uint8_t *y, int32_t y_step, int32_t group,
                           int32_t least, int32_t most)
{
    int32_t largest = least;
    int32_t sum = 0;
    for (int32_t begin = 0; begin < count; begin += group) {
        const int32_t end = (count - begin < group) ? count : (begin + group);
        int32_t own = least;
        for (int32_t i = begin; i < end; ++i) {
            own = (x[i * x_step] > own) ? x[i * x_step] : own;
        }
        if (own > largest) {
            sum >>= (own - largest + 16) >> 5;
            largest = own;
        }
        for (int32_t i = begin; i < end; ++i) {
            sum += 256 >> ((largest - x[i * x_step] + 16) >> 5);
        }
    }
    const int32_t inverse = most / sum;
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = (uint8_t)(inverse >> ((largest - x[i * x_step] + 16) >> 5));
    }
}
