/* Positions first .. end - 1 of an axis; the second form for those that may lie outside its `size` positions. */
TW_KERNEL tw_span tw_span_inside(int32_t first, int32_t end)
{
    const tw_span span = {first, end - first, 0, 0};
    return span;
}

TW_KERNEL int32_t tw_clamp(int32_t value, int32_t low, int32_t high)
{
    return (value < low) ? low : ((value > high) ? high : value);
}

/* Positions of an extent when only every `step`-th counts. */
TW_KERNEL int32_t tw_steps(int32_t extent, int32_t step)
{
    return (extent + step - 1) / step;
}

TW_KERNEL int32_t tw_least(int32_t value, int32_t other)
{
    return (value < other) ? value : other;
}

TW_KERNEL tw_span tw_span_clipped(int32_t first, int32_t end, int32_t size)
{
    const int32_t low = tw_clamp(first, 0, size);
    const int32_t high = tw_clamp(end, 0, size);
    tw_span span = {low, 0, 0, 0};
    if (high > low) {
        span.extent = high - low;
    }
    if (first < 0) {
        span.before = -first;
    }
    if (end > size) {
        span.after = end - size;
    }
    return span;
}

/* Division towards minus infinity, and the smallest and largest of low % by, (low + 1) % by, .., high % by. */
TW_KERNEL int32_t tw_floor_div(int32_t value, int32_t by)
{
    int32_t down = value;
    if (value < 0) {
        down -= by - 1;
    }
    return down / by;
}

TW_KERNEL int32_t tw_mod_low(int32_t low, int32_t high, int32_t by)
{
    const int32_t turns = tw_floor_div(low, by);
    return (turns == tw_floor_div(high, by)) ? (low - (turns * by)) : 0;
}

TW_KERNEL int32_t tw_mod_high(int32_t low, int32_t high, int32_t by)
{
    const int32_t turns = tw_floor_div(high, by);
    return (turns == tw_floor_div(low, by)) ? (high - (turns * by)) : (by - 1);
}
