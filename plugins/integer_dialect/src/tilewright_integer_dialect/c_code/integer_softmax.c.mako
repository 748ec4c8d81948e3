#include "prelude.h"
#include <stdint.h>

% if powers:
/* One row: 2^-((max - x + 16) / 32) in place of the exponential. In groups, the largest so far stands for the largest. */
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
% else:
/* a * (p + b)^2 + c, shifted: the exponential of a distance from the largest. */
TW_KERNEL int64_t ${function}_power(int32_t distance, const int32_t *numbers)
{
    const int32_t log2 = numbers[3];
    const int32_t times = distance / log2;
    const int32_t shift = (times > 31) ? 31 : times;
    const int64_t p = (int64_t)(shift * log2 - distance) + numbers[1];
    return (numbers[0] * (p * p) + numbers[2]) >> shift;
}

/* One row. Numbers: a, b, c, the step of the shift, and the largest result. */
TW_KERNEL void ${function}(int32_t count, const ${x_type} *x, int32_t x_step, uint8_t *y, int32_t y_step,
                           const int32_t *numbers)
{
    int32_t largest = x[0];
    int64_t sum = 0;
    for (int32_t i = 1; i < count; ++i) {
        largest = (x[i * x_step] > largest) ? x[i * x_step] : largest;
    }
    for (int32_t i = 0; i < count; ++i) {
        sum += ${function}_power(largest - x[i * x_step], numbers);
    }
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = (uint8_t)(${function}_power(largest - x[i * x_step], numbers) * numbers[4] / sum);
    }
}
% endif
