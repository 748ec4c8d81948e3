/* One row: what all elements up to each one give${", itself left out" if exclusive else ""}; from the end on where `reverse`. */
TW_KERNEL void ${function}(int32_t count, int32_t reverse, const ${type} *x, int32_t x_step, ${type} *y, int32_t y_step)
{
    ${type} total = ${start};
    for (int32_t i = 0; i < count; ++i) {
        const int32_t at = reverse ? (count - 1 - i) : i;
        const ${type} v = x[at * x_step];
% if exclusive:
        y[at * y_step] = total;
        total = ${step};
% else:
        total = ${step};
        y[at * y_step] = total;
% endif
    }
}
