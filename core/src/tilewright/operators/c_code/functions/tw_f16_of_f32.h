#pragma once
#include "../prelude.h"
#include "tw_bits_of_f32.h"
#include <stdint.h>

/* The bits of the nearest float16, halves to even; NaN stays NaN. By integers alone, whatever the rounding mode is,
 * where no core's own instruction does it. */
TW_KERNEL uint16_t tw_f16_of_f32(float x)
{
#ifdef TW_F16_OF_F32
    return TW_F16_OF_F32(x);
#else
    const uint32_t bits = tw_bits_of_f32(x);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t size = bits & 0x7fffffffu;
    uint32_t half = 0u;
    if (size > 0x7f800000u) {
        half = 0x7e00u;
    } else if (size >= 0x47800000u) { /* 2^16 and above; below it rounding reaches infinity by itself */
        half = 0x7c00u;
    } else if (size >= 0x38800000u) { /* 2^-14 and above */
        half = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
    } else if (size >= 0x33000000u) { /* 2^-25 and above: a count of 2^-24 */
        const uint32_t whole = (size & 0x7fffffu) | 0x800000u;
        const uint32_t shift = 126u - (size >> 23);
        half = (whole + (1u << (shift - 1u)) - 1u + ((whole >> shift) & 1u)) >> shift;
    }
    return (uint16_t)(sign | half);
#endif
}
