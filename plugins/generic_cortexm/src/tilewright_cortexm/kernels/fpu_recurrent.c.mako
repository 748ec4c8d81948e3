<%doc>
Needs function, one (name of a block), cell ("lstm" or "gru"), names (of operands but W), functions (C over v, of each
activation), before_reset (whether the reset gate comes after the product).
</%doc>\
#include "fpu_recurrent.h"

<%
    gates = 4 if cell == "lstm" else 3
    types = {name: "float *" if name in ("HN", "CN", "Y") else "const float *" for name in names}
    parameters = [
        "const tw_fpu_recurrent p", "const float *w", *(f"{types[name]}{name.lower()}" for name in names),
        "void *scratch",
    ]
    lines = ",\n                   ".join(", ".join(parameters[at : at + 4]) for at in range(0, len(parameters), 4))
%>\
% for index, expression in enumerate(functions):
TW_KERNEL float ${function}_f${index}(float v)
{
    return ${expression};
}

% endfor
/* Step after step for each sequence: all gates' products with the state before, then unit by unit. */
TW_KERNEL void ${function}(${lines})
{
    float *const sums = scratch;
    for (int32_t b = 0; b < p.batches; ++b) {
        float *const h = hn + (b * p.hidden);
% if cell == "lstm":
        float *const c = cn + (b * p.hidden);
% endif
        for (int32_t j = 0; j < p.hidden; ++j) {
            h[j] = ${"h0[(b * p.hidden) + j]" if "H0" in names else "0.0f"};
% if cell == "lstm":
            c[j] = ${"c0[(b * p.hidden) + j]" if "C0" in names else "0.0f"};
% endif
        }
        for (int32_t t = 0; t < p.steps; ++t) {
            const int32_t at = (((p.reverse != 0) ? (p.steps - 1 - t) : t) * p.batches) + b;
            const float *const given = g + (${gates} * at * p.hidden);
% if cell == "lstm":
            tw_fpu_state_products(${one}, w, h, p.hidden, 4 * p.hidden, sums);
% elif before_reset:
            tw_fpu_state_products(${one}, w, h, p.hidden, 3 * p.hidden, sums);
% else:
            const int32_t inside = ((2 * p.hidden) + 3) & ~3;
            float *const fresh_sums = sums + inside;
            float *const left = fresh_sums + ((p.hidden + 3) & ~3);
            tw_fpu_state_products(${one}, w, h, p.hidden, 2 * p.hidden, sums);
            for (int32_t j = 0; j < p.hidden; ++j) {
                left[j] = ${function}_f0(given[p.hidden + j] + sums[p.hidden + j]) * h[j];
            }
            tw_fpu_state_products(${one}, w + (inside * p.hidden), left, p.hidden, p.hidden, fresh_sums);
% endif
            for (int32_t j = 0; j < p.hidden; ++j) {
% if cell == "lstm":
                const float in = ${function}_f0(given[j] + sums[j]);
                const float out = ${function}_f0(given[p.hidden + j] + sums[p.hidden + j]);
                const float keep = ${function}_f0(given[(2 * p.hidden) + j] + sums[(2 * p.hidden) + j]);
                const float fresh = ${function}_f1(given[(3 * p.hidden) + j] + sums[(3 * p.hidden) + j]);
                const float after = (keep * c[j]) + (in * fresh);
                c[j] = after;
                h[j] = out * ${function}_f2(after);
% else:
                const float update = ${function}_f0(given[j] + sums[j]);
% if before_reset:
                const float reset = ${function}_f0(given[p.hidden + j] + sums[p.hidden + j]);
                const float inner = reset * (sums[(2 * p.hidden) + j]${" + rb[j]" if "RB" in names else ""});
% else:
                const float inner = fresh_sums[j];
% endif
                const float fresh = ${function}_f1(given[(2 * p.hidden) + j] + inner);
                h[j] = ((1.0f - update) * fresh) + (update * h[j]);
% endif
% if "Y" in names:
                y[(at * p.hidden) + j] = h[j];
% endif
            }
        }
    }
}
