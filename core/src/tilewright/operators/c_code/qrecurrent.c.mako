#include "gates.h"
#include "prelude.h"
#include <stdint.h>

<%
    strides = {
        "X": ("step", "batch"), "H0": ("batch",), "C0": ("batch",), "HN": ("batch",), "CN": ("batch",),
        "Y": ("step", "batch"),
    }
    lower = lambda name: "table" if name == "T" else name.lower()
    types = {"X": f"const {c_type} *", "W": "const int8_t *", "R": "const int8_t *", "B": "const int32_t *",
             "RB": "const int32_t *", "T": "const uint16_t *", "H0": f"const {c_type} *", "C0": "const int16_t *",
             "HN": f"{c_type} *", "CN": "int16_t *", "Y": f"{c_type} *"}
    parameters = [f"const {function}_shape p", *(f"{types[name]}{lower(name)}" for name in names), "void *scratch"]
    total = "int64_t" if wide else "int32_t"
    scaled = "tw_gate_scaled_wide" if wide else "tw_gate_scaled"
    gates = 4 if cell == "lstm" else 3
    lstm = cell == "lstm"
    rows = gates if lstm or before_reset else 2
    narrow = ("", "") if wide else ("tw_gate_limited(", ")")
    beside = "rb" if "RB" in names else "(const int32_t *)0"
%>\
typedef struct { /* elements between neighbours, but for the first line; of words two each */
    int32_t steps, batches, inputs, hidden;
% for name in names:
% if name in strides:
    int32_t ${", ".join(f"{name.lower()}_{axis}" for axis in strides[name])};
% endif
% endfor
    int32_t reverse, zero_point, low, high;
    int32_t given[${2 * gates}], inner[${2 * gates}], out[2];
% if lstm:
    int32_t keep[2], write[2], cell[2], limit;
% else:
    int32_t in[2];
% endif
} ${function}_shape;

/* What a unit's gates get from the input. */
TW_KERNEL void ${function}_given(const ${function}_shape *p, int32_t unit, const ${c_type} *x, const int8_t *w,
                   const int32_t *b, int32_t *own)
{
    ${total} sum[${gates}];
    for (int32_t g = 0; g < ${gates}; ++g) {
        sum[g] = b[(g * p->hidden) + unit];
    }
    ${sums}_${gates}(x, w + (unit * p->inputs), p->hidden * p->inputs, p->inputs, sum);
    for (int32_t g = 0; g < ${gates}; ++g) {
        own[g] = ${narrow[0]}${scaled}(sum[g], &p->given[2 * g])${narrow[1]};
    }
}

/* What they get from the state before${"" if rows == gates else ", but for the last one"}. */
TW_KERNEL void ${function}_inner(const ${function}_shape *p, int32_t unit, const ${c_type} *h, const int8_t *r,
                   const int32_t *rb, int32_t *inner)
{
    ${total} sum[${rows}];
    for (int32_t g = 0; g < ${rows}; ++g) {
        sum[g] = rb ? rb[(g * p->hidden) + unit] : 0;
    }
    ${sums}_${rows}(h, r + (unit * p->hidden), p->hidden * p->hidden, p->hidden, sum);
    for (int32_t g = 0; g < ${rows}; ++g) {
        inner[g] = ${narrow[0]}${scaled}(sum[g], &p->inner[2 * g])${narrow[1]};
    }
}

/* A hidden state as it is stored. */
TW_KERNEL ${c_type} ${function}_stored(const ${function}_shape *p, int32_t product)
{
    const int32_t value = tw_gate_scaled(product, p->out) + p->zero_point;
    return (${c_type})((value < p->low) ? p->low : ((value > p->high) ? p->high : value));
}

/* Step after step for each sequence; `scratch` has room for the next hidden state${"" if lstm else ", and for the\n * state of 16 bits before it is stored" if before_reset else ", and four times 16\n * bits a unit: the state before it is stored, and what gates leave"}. */
TW_KERNEL void ${function}(${",\n                   ".join(", ".join(parameters[at : at + 4]) for at in range(0, len(parameters), 4))})
{
    const int32_t plain[2] = {3, 0}; /* of gates, whose tanh shifts nothing */
% if lstm:
    ${c_type} *const next = scratch;
% else:
    int16_t *const c = scratch;
% if before_reset:
    ${c_type} *const next = (${c_type} *)(void *)(c + p.hidden);
% else:
    int16_t *const left = c + p.hidden;
    int16_t *const update = left + p.hidden;
    int16_t *const fresh = update + p.hidden;
    ${c_type} *const next = (${c_type} *)(void *)(fresh + p.hidden);
% endif
% endif
    for (int32_t n = 0; n < p.batches; ++n) {
        ${c_type} *const h = hn + (n * p.hn_batch);
% if lstm:
        int16_t *const c = cn + (n * p.cn_batch);
% endif
        for (int32_t j = 0; j < p.hidden; ++j) {
% if "H0" in names:
            h[j] = h0[(n * p.h0_batch) + j];
% else:
            h[j] = (${c_type})p.zero_point;
% endif
% if lstm:
            c[j] = ${"c0[(n * p.c0_batch) + j]" if "C0" in names else "0"};
% elif "H0" in names:
            c[j] = (int16_t)tw_gate_limited(tw_gate_scaled(h[j] - p.zero_point, p.in));
% else:
            c[j] = 0;
% endif
        }
        for (int32_t t = 0; t < p.steps; ++t) {
            const int32_t at = p.reverse ? (p.steps - 1 - t) : t;
            const ${c_type} *const xt = x + (at * p.x_step) + (n * p.x_batch);
% if not lstm and not before_reset:
            for (int32_t j = 0; j < p.hidden; ++j) {
                int32_t own[3];
                int32_t inner[2];
                ${function}_given(&p, j, xt, w, b, own);
                ${function}_inner(&p, j, h, r, ${beside}, inner);
                const int32_t reset = tw_gate_sigmoid(tw_gate_limited(own[1] + inner[1]), table);
                left[j] = (int16_t)tw_gate_floor((reset * (h[j] - p.zero_point)) + 16384, 15);
                update[j] = (int16_t)tw_gate_sigmoid(tw_gate_limited(own[0] + inner[0]), table);
                fresh[j] = (int16_t)own[2];
            }
% endif
            for (int32_t j = 0; j < p.hidden; ++j) {
                int32_t gate[${gates}];
% if lstm or before_reset:
                int32_t own[${gates}];
                int32_t inner[${gates}];
                ${function}_given(&p, j, xt, w, b, own);
                ${function}_inner(&p, j, h, r, ${beside}, inner);
                for (int32_t g = 0; g < ${gates - 1}; ++g) {
                    gate[g] = tw_gate_sigmoid(tw_gate_limited(own[g] + inner[g]), table);
                }
% endif
% if lstm:
                gate[3] = tw_gate_tanh(tw_gate_limited(own[3] + inner[3]), plain, table);
                const int32_t kept = tw_gate_product(gate[2], c[j], p.keep);
                int32_t after = tw_gate_limited(kept + tw_gate_product(gate[0], gate[3], p.write));
                if (p.limit > 0) {
                    after = (after > p.limit) ? p.limit : ((after < -p.limit) ? -p.limit : after);
                }
                c[j] = (int16_t)after;
                next[j] = ${function}_stored(&p, tw_gate_tanh(after, p.cell, table) * gate[1]);
% else:
% if before_reset:
                const int32_t inside = tw_gate_floor((gate[1] * inner[2]) + 16384, 15);
                gate[2] = tw_gate_tanh(tw_gate_limited(own[2] + inside), plain, table);
% else:
                ${total} sum = 0;
                ${sums}_left(left, r + (((2 * p.hidden) + j) * p.hidden), p.hidden, &sum);
                const int32_t inside = ${narrow[0]}${scaled}(sum, &p.inner[4])${narrow[1]};
                gate[0] = update[j];
                gate[2] = tw_gate_tanh(tw_gate_limited(fresh[j] + inside), plain, table);
% endif
                const int32_t mixed = (gate[0] * c[j]) + ((32768 - gate[0]) * gate[2]);
                c[j] = (int16_t)tw_gate_floor(mixed + 16384, 15);
                next[j] = ${function}_stored(&p, c[j]);
% endif
            }
            for (int32_t j = 0; j < p.hidden; ++j) {
                h[j] = next[j];
% if "Y" in names:
                y[(at * p.y_step) + (n * p.y_batch) + j] = next[j];
% endif
            }
        }
    }
}
