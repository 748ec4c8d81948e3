/* Position of the ${"last" if last else "first"} element that no other is beyond, along one row. */
TW_KERNEL int32_t ${function}(int32_t count, const ${type} *x, int32_t step)
{
    int32_t best = 0;
% if floating:
    for (int32_t i = 0; i < count; ++i) {
        const ${type} v = x[i * step];
        const ${type} most = x[best * step];
        if (v != v) { /* NaN is beyond every number */
% if last:
            best = i;
% else:
            return i;
% endif
        } else if (most == most && v ${order} most) {
            best = i;
        }
    }
% else:
    for (int32_t i = 1; i < count; ++i) {
        if (x[i * step] ${order} x[best * step]) {
            best = i;
        }
    }
% endif
    return best;
}
