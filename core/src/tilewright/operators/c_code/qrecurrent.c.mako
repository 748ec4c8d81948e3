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
    def given(gate):
        return f"{function}_given(&p, {gate}, j, xt, w, b)"
    def inner(gate):
        return f"{function}_inner(&p, {gate}, j, h, r, {'rb' if 'RB' in names else '0'})"
    def both(gate):
        return f"tw_gate_limited({given(gate)} + {inner(gate)})"
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

/* What a unit's gate gets from the input. */
TW_KERNEL int32_t ${function}_given(const ${function}_shape *p, int32_t gate, int32_t unit,
                   const ${c_type} *x, const int8_t *w, const int32_t *b)
{
    const int32_t at = (gate * p->hidden) + unit;
    const int8_t *const row = w + (at * p->inputs);
    ${total} sum = b[at];
    for (int32_t k = 0; k < p->inputs; ++k) {
        sum += row[k] * x[k];
    }
    return ${"" if wide else "tw_gate_limited("}${scaled}(sum, &p->given[2 * gate])${"" if wide else ")"};
}

/* What it gets from the state before. */
TW_KERNEL int32_t ${function}_inner(const ${function}_shape *p, int32_t gate, int32_t unit,
                   const ${c_type} *h, const int8_t *r, const int32_t *rb)
{
    const int32_t at = (gate * p->hidden) + unit;
    const int8_t *const row = r + (at * p->hidden);
    ${total} sum = rb ? rb[at] : 0;
    for (int32_t k = 0; k < p->hidden; ++k) {
        sum += row[k] * h[k];
    }
    return ${"" if wide else "tw_gate_limited("}${scaled}(sum, &p->inner[2 * gate])${"" if wide else ")"};
}

% if not lstm and not before_reset:
/* The same of what the reset gate leaves of it. */
TW_KERNEL int32_t ${function}_left(const ${function}_shape *p, int32_t unit, const int16_t *left,
                   const int8_t *r)
{
    const int8_t *const row = r + (((2 * p->hidden) + unit) * p->hidden);
    ${total} sum = 0;
    for (int32_t k = 0; k < p->hidden; ++k) {
        sum += row[k] * left[k];
    }
    return ${"" if wide else "tw_gate_limited("}${scaled}(sum, &p->inner[4])${"" if wide else ")"};
}

% endif
/* A hidden state as it is stored. */
TW_KERNEL ${c_type} ${function}_stored(const ${function}_shape *p, int32_t product)
{
    const int32_t value = tw_gate_scaled(product, p->out) + p->zero_point;
    return (${c_type})((value < p->low) ? p->low : ((value > p->high) ? p->high : value));
}

/* Step after step for each sequence; `scratch` has room for the next hidden state${", and twice 16 bits a unit: the state before it is stored, and what the reset gate leaves" if not lstm and not before_reset else "" if lstm else ", and for the state of 16 bits before it is stored"}. */
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
    ${c_type} *const next = (${c_type} *)(void *)(left + p.hidden);
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
                const int32_t reset = tw_gate_sigmoid(${both(1)}, table);
                left[j] = (int16_t)tw_floor_shift(((int64_t)reset * (h[j] - p.zero_point)) + 16384, 15);
            }
% endif
            for (int32_t j = 0; j < p.hidden; ++j) {
% if lstm:
                int32_t gate[4];
                for (int32_t g = 0; g < 4; ++g) {
                    const int32_t sum = tw_gate_limited(${given("g")} + ${inner("g")});
                    gate[g] = (g < 3) ? tw_gate_sigmoid(sum, table) : tw_gate_tanh(sum, plain, table);
                }
                const int32_t kept = tw_gate_product(gate[2], c[j], p.keep);
                int32_t after = tw_gate_limited(kept + tw_gate_product(gate[0], gate[3], p.write));
                if (p.limit > 0) {
                    after = (after > p.limit) ? p.limit : ((after < -p.limit) ? -p.limit : after);
                }
                c[j] = (int16_t)after;
                next[j] = ${function}_stored(&p, tw_gate_tanh(after, p.cell, table) * gate[1]);
% else:
                int32_t gate[3];
% if before_reset:
                for (int32_t g = 0; g < 3; ++g) {
                    const int32_t own = ${given("g")};
                    const int32_t inside = ${inner("g")};
                    if (g < 2) {
                        gate[g] = tw_gate_sigmoid(tw_gate_limited(own + inside), table);
                    } else {
                        const int32_t left = (int32_t)tw_floor_shift(((int64_t)gate[1] * inside) + 16384, 15);
                        gate[2] = tw_gate_tanh(tw_gate_limited(own + left), plain, table);
                    }
                }
% else:
                gate[0] = tw_gate_sigmoid(${both(0)}, table);
                gate[2] = tw_gate_limited(${given(2)} + ${function}_left(&p, j, left, r));
                gate[2] = tw_gate_tanh(gate[2], plain, table);
% endif
                const int32_t mixed = (gate[0] * c[j]) + ((32768 - gate[0]) * gate[2]);
                c[j] = (int16_t)tw_floor_shift((int64_t)mixed + 16384, 15);
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
