<%doc> Needs function, y_type, narrow. </%doc>\
#include "nearest.h"

/* `p`: the scale, and the zero point. */
TW_KERNEL void ${function}(int32_t count, int32_t x_step, int32_t y_step, const float *x, const float *p, ${y_type} *y)
{
    const float scale = p[0];
    const int32_t zero = (int32_t)p[1];
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = (${y_type})${narrow}(tw_arm_nearest(x[i * x_step] / scale, zero));
    }
}
