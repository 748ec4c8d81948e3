<%doc> Needs function, x_type. </%doc>\
/* y = t[x], t being where the entry of 0 is. Four in a turn: compilers do not unroll at -O2. */
TW_KERNEL void ${function}(const ${x_type} *x, int32_t x_step, const uint8_t *t, uint8_t *y, int32_t y_step,
        int32_t count)
{
    for (; count >= 4; count -= 4) {
% for i in range(4):
        y[${times(i, "y_step")}] = t[x[${times(i, "x_step")}]];
% endfor
        x += 4 * x_step;
        y += 4 * y_step;
    }
    for (; count > 0; --count) {
        *y = t[*x];
        x += x_step;
        y += y_step;
    }
}
