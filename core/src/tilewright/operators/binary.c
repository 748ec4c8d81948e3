/* min(max(v, low), high); NaN stays NaN. */
TW_KERNEL float tw_clip(float v, float low, float high)
{
    return v < low ? low : (v > high ? high : v);
}

/* The larger one; NaN where either is NaN. */
TW_KERNEL float tw_max_f32(float a, float b)
{
    return a > b || a != a ? a : b;
}

/* The smaller one; NaN where either is NaN. */
TW_KERNEL float tw_min_f32(float a, float b)
{
    return a < b || a != a ? a : b;
}

/* Quotient without its fraction; 0 where the divisor is 0; the one quotient that does not fit wraps. */
TW_KERNEL int32_t tw_div_i32(int32_t a, int32_t b)
{
    if (b == 0 || (b == -1 && a == INT32_MIN)) {
        return b == 0 ? 0 : a;
    }
    return a / b;
}

/* As tw_div_i32. */
TW_KERNEL int64_t tw_div_i64(int64_t a, int64_t b)
{
    if (b == 0 || (b == -1 && a == INT64_MIN)) {
        return b == 0 ? 0 : a;
    }
    return a / b;
}

/* As tw_div_i32. */
TW_KERNEL uint32_t tw_div_u32(uint32_t a, uint32_t b)
{
    return b == 0 ? 0 : a / b;
}

/* As tw_div_i32. */
TW_KERNEL uint64_t tw_div_u64(uint64_t a, uint64_t b)
{
    return b == 0 ? 0 : a / b;
}
