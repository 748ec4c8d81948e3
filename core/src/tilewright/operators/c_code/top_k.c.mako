<%
    before = ("v > other" if largest else "v < other")
    if floating: # NaN is larger than every number
        before = "v > other || (v != v && other == other)" if largest else "v < other || (other != other && v == v)"
%>\
/* One row, sorted into its first k by insertion; of equals the first comes first. */
TW_KERNEL void ${function}(int32_t count, int32_t k, const ${type} *x, int32_t x_step, ${type} *y, int32_t y_step,
                           int64_t *places, int32_t i_step)
{
    int32_t found = 0;
    for (int32_t i = 0; i < count; ++i) {
        const ${type} v = x[i * x_step];
        int32_t at = found;
        while (at > 0) {
            const ${type} other = y[(at - 1) * y_step];
            if (!(${before})) {
                break;
            }
            if (at < k) {
                y[at * y_step] = other;
                places[at * i_step] = places[(at - 1) * i_step];
            }
            --at;
        }
        if (at < k) {
            y[at * y_step] = v;
            places[at * i_step] = i;
        }
        found += found < k;
    }
}
