#include "functions/tw_expf.h"
#include "prelude.h"
#include <math.h>
#include <stdint.h>

/* One row: y = exp(x - max) / sum(exp(x - max)). A NaN, or an infinite largest element, makes the whole row NaN. */
TW_KERNEL void tw_softmax_f32(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    float largest = -INFINITY;
    float sum = 0.0f;
    for (int32_t i = 0; i < count; ++i) {
        const float v = x[i * x_step];
        largest = ((v > largest) || (v != v)) ? v : largest;
    }
    for (int32_t i = 0; i < count; ++i) {
        const float e = tw_expf(x[i * x_step] - largest);
        y[i * y_step] = e;
        sum += e;
    }
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] /= sum;
    }
}
