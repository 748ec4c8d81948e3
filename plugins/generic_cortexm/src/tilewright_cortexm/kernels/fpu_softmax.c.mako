<%doc> Needs function, near (whether elements are neighbours). </%doc>\
#include <math.h>

<%
    x = f"x[{'i' if near else 'i * x_step'}]"
    y = f"y[{'i' if near else 'i * y_step'}]"
%>\
/* One row: y = exp(x - max) / sum(exp(x - max)). A NaN, or an infinite largest element, makes the whole row NaN: then
 * one of the exponentials is, and so their sum. */
TW_KERNEL void ${function}(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    float largest = -INFINITY;
    float sum = 0.0f;
    for (int32_t i = 0; i < count; ++i) {
        const float v = ${x};
        largest = (v > largest) ? v : largest;
    }
    for (int32_t i = 0; i < count; ++i) {
        const float v = ${x} - largest;
        const float e = (v >= -87.0f) ? tw_fpu_exp_near(v) : tw_expf(v);
        ${y} = e;
        sum += e;
    }
    const float share = 1.0f / sum;
    for (int32_t i = 0; i < count; ++i) {
        ${y} *= share;
    }
% if near:
    (void)x_step;
    (void)y_step;
% endif
}
