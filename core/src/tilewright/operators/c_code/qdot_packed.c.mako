<%doc> Needs x_type, weight_bits, bits (of the accumulator) and dot, a name that carries all three. </%doc>\
<%
    wide = "(int64_t)" if bits == 64 else ""
    weight = f"tw_weight_{weight_bits}"
%>\
#include "prelude.h"
#include <stdint.h>

/* Sums of (x - x_zero_point) * (w - w_zero_point), added to the accumulators of one or of four outputs; w packed. */
typedef struct {
    int32_t count; /* products */
    int32_t x_step; /* elements between the factors of successive products */
    int32_t x_apart; /* elements between those of successive outputs */
    int32_t w_at; /* the first weight of each row */
    int32_t w_apart; /* bytes of a row */
    int32_t x_zero_point;
    const int32_t *w_zero_points; /* one per output; null where all are zero */
} ${dot};

TW_KERNEL void ${dot}_1(${dot} p, const ${x_type} *x, const uint8_t *w, int${bits}_t *acc)
{
    const int32_t z0 = p.w_zero_points ? p.w_zero_points[0] : 0;
    int${bits}_t sum = acc[0];
    for (int32_t i = 0; i < p.count; ++i) {
        sum += ${wide}(x[i * p.x_step] - p.x_zero_point) * (${weight}(w, p.w_at + i) - z0);
    }
    acc[0] = sum;
}

TW_KERNEL void ${dot}_4(${dot} p, const ${x_type} *x, const uint8_t *w, int${bits}_t *acc)
{
    const int32_t *const z = p.w_zero_points;
% for j in range(4):
    const uint8_t *const w${j} = w + (${j} * p.w_apart);
    const int32_t z${j} = z ? z[${j}] : 0;
    int${bits}_t sum${j} = acc[${j}];
% endfor
    for (int32_t i = 0; i < p.count; ++i) {
        const ${x_type} *const xi = x + (i * p.x_step);
        const int32_t at = p.w_at + i;
% for j in range(4):
        sum${j} += ${wide}(xi[${f"{j} * p.x_apart" if j > 1 else ("p.x_apart" if j else "0")}] - p.x_zero_point) * (${weight}(w${j}, at) - z${j});
% endfor
    }
% for j in range(4):
    acc[${j}] = sum${j};
% endfor
}
