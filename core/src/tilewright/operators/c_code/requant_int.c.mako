#include "requant.h"

/* `word` is the multiplier, or with the sign bit set the bits of the scale. */
TW_KERNEL int32_t tw_requant_int${bits}(int${bits}_t acc, int32_t word, tw_requant p)
{
    if (p.fixed && (!p.exact || (word >= 0))) {
        return tw_requant_fixed((int64_t)acc * word, p);
    }
    return tw_requant_exact((float)acc, word, p);
}
