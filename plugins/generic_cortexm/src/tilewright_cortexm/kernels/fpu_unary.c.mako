<%doc> Needs function, compute (C function of a float), near (whether elements are neighbours). </%doc>\
TW_KERNEL void ${function}(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
% if near:
    (void)x_step;
    (void)y_step;
% endif
    for (int32_t i = 0; i < count; ++i) {
        y[${"i" if near else "i * y_step"}] = ${compute}(x[${"i" if near else "i * x_step"}]);
    }
}
