#pragma once
#include "xpulp.h"
#include "prelude.h"
#include <stdint.h>

/* A byte of weights holds those of two channels, 16 * upper + lower + 8: sums of bytes stand beside sums of their lower
 * nibbles, each with the lower channel's weights 8 too large. */
#define TW_XP_LOWER UINT32_C(0x0f0f0f0f)
#define TW_XP_ONES UINT32_C(0x01010101)

/* Both sums of a pair of channels over values whose sum is `total`, taken apart; where that is not finished, both only
 * without what is too large. */
TW_KERNEL void tw_xp_pair_apart(int32_t finished, int32_t total, int32_t *acc)
{
    const uint32_t moved = 8 * (uint32_t)total;
    const uint32_t upper = (uint32_t)acc[0] - (uint32_t)acc[1];
    acc[0] = finished ? ((int32_t)upper >> 4) : (int32_t)((uint32_t)acc[0] - moved);
    acc[1] = (int32_t)((uint32_t)acc[1] - moved);
}

/* Of four channels of `pixels` pixels, 1 or 2. */
TW_KERNEL void tw_xp_channels_apart(int32_t pixels, int32_t finished, const int32_t *totals, int32_t *acc)
{
    tw_xp_pair_apart(finished, totals[0], acc);
    tw_xp_pair_apart(finished, totals[0], acc + 2);
    if (pixels == 2) {
        tw_xp_pair_apart(finished, totals[1], acc + 4);
        tw_xp_pair_apart(finished, totals[1], acc + 6);
    }
}
