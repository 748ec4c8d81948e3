#pragma once
#include "../prelude.h"
#include "tw_f32_of_bits.h"
#include <stdint.h>

/* What the bits of a float16 stand for: exact. A core's own instruction may do it. */
TW_KERNEL float tw_f32_of_f16(uint16_t x)
{
#ifdef TW_F32_OF_F16
    return TW_F32_OF_F16(x);
#else
    const uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
    const uint32_t size = (uint32_t)(x & 0x7fffu) << 13;
    if (size < 0x00800000u) { /* zero, or below the normal range: a count of 2^-24 */
        const float value = (float)(size >> 13) * 0x1.0p-24f;
        return (sign != 0u) ? -value : value;
    }
    return tw_f32_of_bits(sign | (size + ((size < 0x0f800000u) ? 0x38000000u : 0x70000000u)));
#endif
}
