<%doc>
Needs function, x_type, a, b, c, log2, most (the largest result), sum_type and product_type: 32 bits where no row leaves
them, for cores divide 64 bits in hundreds of instructions.
</%doc>\
#include "prelude.h"
#include <stdint.h>

/* ${a} * (p + ${b})^2 + ${c}, shifted: the exponential of a distance from the largest. */
TW_KERNEL ${sum_type} ${function}_power(int32_t distance)
{
    const int32_t times = distance / ${log2};
    const int32_t shift = (times > 31) ? 31 : times;
    const ${product_type} p = ((shift * ${log2}) - distance) + (${b});
    return (${sum_type})((${a} * (p * p)) + ${c}) >> shift;
}

/* One row of results up to ${most}. */
TW_KERNEL void ${function}(int32_t count, const ${x_type} *x, int32_t x_step, uint8_t *y, int32_t y_step)
{
    int32_t largest = x[0];
    ${sum_type} sum = 0;
    for (int32_t i = 1; i < count; ++i) {
        largest = (x[i * x_step] > largest) ? x[i * x_step] : largest;
    }
    for (int32_t i = 0; i < count; ++i) {
        sum += ${function}_power(largest - x[i * x_step]);
    }
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = (uint8_t)(${function}_power(largest - x[i * x_step]) * ${most} / sum);
    }
}
