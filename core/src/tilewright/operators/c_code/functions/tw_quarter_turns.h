#pragma once
#include "../prelude.h"
#include <stdint.h>

/* x = n pi/2 + r, |r| <= pi/4, for a finite x: n modulo 4 is stored, r returned. Above 2 the product of x's 24 bits
 * and the bits of 2/pi that matter is exact, modulo 4. */
TW_KERNEL float tw_quarter_turns(float x, uint32_t *n)
{
    static const uint32_t two_over_pi[8] = {
        0, UINT32_C(0xa2f9836e), UINT32_C(0x4e441529), UINT32_C(0xfc2757d1),
        UINT32_C(0xf534ddc0), UINT32_C(0xdb629599), UINT32_C(0x3c439041), UINT32_C(0xfe5163ab),
    };
    const float size = (x < 0.0f) ? -x : x;
    if (size < 2.0f) {
        *n = (size <= 0x1.921fb60000000p-1f) ? 0 : ((x < 0.0f) ? 3 : 1);
        const float turned = (size - 0x1.921fb60000000p+0f) + 0x1.777a5c0000000p-25f;
        return (*n == 0) ? x : ((x < 0.0f) ? -turned : turned);
    }
    const union { float value; uint32_t bits; } part = {.value = size};
    const uint32_t first = (part.bits >> 23) - 120; /* of 96 bits of the table, 32 zeros in front */
    const uint32_t mantissa = (part.bits & UINT32_C(0x007fffff)) | UINT32_C(0x00800000);
    uint32_t words[3];
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t at = (first / 32) + i;
        const uint32_t shift = first % 32;
        words[i] = (shift == 0) ? two_over_pi[at] : ((two_over_pi[at] << shift) | (two_over_pi[at + 1] >> (32 - shift)));
    }
    const uint64_t turns = ((uint64_t)(mantissa * words[0]) << 32) + ((uint64_t)mantissa * words[1])
        + (((uint64_t)mantissa * words[2]) >> 32); /* of pi/2, times 2^62 */
    const uint64_t whole = (turns + (UINT64_C(1) << 61)) >> 62;
    const uint64_t rest = turns - (whole << 62);
    const float r = (((rest >> 63) != 0) ? -(float)(0 - rest) : (float)rest) * 0x1.921fb60000000p-62f;
    *n = (uint32_t)((x < 0.0f) ? (4 - whole) : whole) & 3;
    return (x < 0.0f) ? -r : r;
}
