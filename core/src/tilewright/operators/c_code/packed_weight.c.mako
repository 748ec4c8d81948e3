<%doc> Needs weight_bits: 2 or 4. </%doc>\
<%
    each, sign = 8 // weight_bits, 1 << (weight_bits - 1)
    shift = weight_bits.bit_length() - 1
%>\
#include "prelude.h"
#include <stdint.h>

/* The signed value at `at` of a row of weights of ${weight_bits} bits, ${each} to a byte. */
TW_KERNEL int32_t tw_weight_${weight_bits}(const uint8_t *w, int32_t at)
{
    const uint32_t stored = ((uint32_t)w[at >> ${3 - shift}] >> ((at & ${each - 1}) << ${shift})) & ${2 * sign - 1}u;
    return (int32_t)(stored ^ ${sign}u) - ${sign};
}
