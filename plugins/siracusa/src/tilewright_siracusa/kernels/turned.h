#pragma once
#include "xpulp.h"
#include "prelude.h"
#include <stdint.h>

/* Channels lie in the four bytes of a word, taps in successive words: turned by a quarter, four taps are a word. */
#define TW_XP_EVEN UINT32_C(0x05010400)
#define TW_XP_ODD UINT32_C(0x07030602)
#define TW_XP_UPPER UINT32_C(0x07060302)
/* Byte j of t[i] is byte i of r[j]. */
TW_KERNEL void tw_xp_turn(const uint32_t *r, uint32_t *t)
{
    const uint32_t low01 = tw_xp_shuffle(r[0], r[1], TW_XP_EVEN);
    const uint32_t high01 = tw_xp_shuffle(r[0], r[1], TW_XP_ODD);
    const uint32_t low23 = tw_xp_shuffle(r[2], r[3], TW_XP_EVEN);
    const uint32_t high23 = tw_xp_shuffle(r[2], r[3], TW_XP_ODD);
    t[0] = tw_xp_pack(low01, low23);
    t[1] = tw_xp_shuffle(low01, low23, TW_XP_UPPER);
    t[2] = tw_xp_pack(high01, high23);
    t[3] = tw_xp_shuffle(high01, high23, TW_XP_UPPER);
}
