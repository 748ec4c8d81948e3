/* Two values, each times its own factor: the sum is rounded at a shift, moved and clamped. */
typedef struct {
    int${bits}_t a_factor, b_factor, offset;
    int32_t shift;
    uint32_t ties; /* 1: halves go to the even neighbour, offset holds no half. 0: offset holds it, no half occurs */
    int32_t zero_point;
    int32_t low;
    int32_t high;
} tw_qadd_int${bits};

/* Unsigned arithmetic, with 2^${bits - 2} added so that nothing is negative: >> is defined, and parity is kept. That is
 * taken off after the clamp, not before: gcc 12 computes the clamp of a difference of small constants in 16 bits, and
 * takes its sign for a large number. */
TW_KERNEL int32_t tw_qadd_rounded_int${bits}(int32_t a, int32_t b, tw_qadd_int${bits} p)
{
    const uint${bits}_t sum = (uint${bits}_t)(a * p.a_factor) + (uint${bits}_t)(b * p.b_factor)
        + (uint${bits}_t)p.offset + (UINT${bits}_C(1) << ${bits - 2});
    const uint${bits}_t up = p.ties ? ((UINT${bits}_C(1) << (p.shift - 1)) - 1 + ((sum >> p.shift) & 1)) : 0;
    const int${bits}_t rounded = (int${bits}_t)((sum + up) >> p.shift);
    const int${bits}_t zero = (INT${bits}_C(1) << (${bits - 2} - p.shift)) - p.zero_point;
    const int${bits}_t low = zero + p.low, high = zero + p.high;
    return (int32_t)(((rounded < low) ? low : ((rounded > high) ? high : rounded)) - zero);
}
