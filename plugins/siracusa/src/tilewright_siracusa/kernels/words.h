#pragma once
#include "xpulp.h"
#include "prelude.h"
#include <stdint.h>

/* 16 bits hold the weights of two channels, 256 * upper + lower + 128: sums of both stand beside those of the upper.
 * The sums of a pair of channels over values whose sum is `total`, taken apart; where that is not finished, the first
 * only without what is too large. */
TW_KERNEL void tw_xp_pair_of_words(int32_t finished, int32_t total, int32_t *acc)
{
    const uint32_t moved = (uint32_t)acc[0] - (128 * (uint32_t)total);
    acc[0] = (int32_t)(finished ? (moved - (256 * (uint32_t)acc[1])) : moved);
}

/* Of four channels of `pixels` pixels, 1 or 2. */
TW_KERNEL void tw_xp_words_apart(int32_t pixels, int32_t finished, const int32_t *totals, int32_t *acc)
{
    tw_xp_pair_of_words(finished, totals[0], acc);
    tw_xp_pair_of_words(finished, totals[0], acc + 2);
    if (pixels == 2) {
        tw_xp_pair_of_words(finished, totals[1], acc + 4);
        tw_xp_pair_of_words(finished, totals[1], acc + 6);
    }
}
