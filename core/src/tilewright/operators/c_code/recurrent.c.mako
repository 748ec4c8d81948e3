#include "prelude.h"
#include <stdint.h>

<%
    strides = {
        "G": ("step", "batch", "unit"), "R": ("row", "unit"), "RB": ("unit",), "P": ("unit",), "S": ("batch",),
        "H0": ("batch", "unit"), "C0": ("batch", "unit"), "HN": ("batch", "unit"), "CN": ("batch", "unit"),
        "Y": ("step", "batch", "unit"),
    }
    types = {name: "const int32_t *" if name == "S" else "float *" if name in ("HN", "CN", "Y") else "const float *"
             for name in names}
    parameters = [f"const {function}_shape p", *(f"{types[name]}{'peep' if name == 'P' else name.lower()}" for name in names), "void *scratch"]
    def row(gate):
        return {0: "j", 1: "p.hidden + j"}.get(gate, f"{gate} * p.hidden + j")
    def given(gate):
        return f"gt[({row(gate)}) * p.g_unit]" if gate else "gt[j * p.g_unit]"
    def dot(gate, state):
        return f"{function}_dot(&p, r, {row(gate)}, {state})"
    def total(gate):
        return f"{function}_sum(&p, gt, r, {row(gate)}, h)"
    def peep(gate, state):
        place = row(gate) if gate == 0 else f"({row(gate)})"
        return f"\n                    + peep[{place} * p.p_unit] * {state}" if "P" in names else ""
    unclipped = 2 if cell == "lstm" else -1
%>\
typedef struct { /* elements between neighbours, but for the first line */
    int32_t steps;
    int32_t batches;
    int32_t hidden;
    int32_t reverse;
% for name in names:
    int32_t ${", ".join(f"{name.lower()}_{axis}" for axis in strides[name])};
% endfor
} ${function}_shape;

% for index, expression in enumerate(functions):
TW_KERNEL float ${function}_f${index}(float ${"v" if not clip or index == unclipped else "sum"})
{
% if clip and index != unclipped:
    const float v = tw_clip(sum, -${clip}, ${clip});
% endif
    return ${expression};
}

% endfor
/* What one unit gets from the state before. */
TW_KERNEL float ${function}_dot(const ${function}_shape *p, const float *r, int32_t unit, const float *h,
                   int32_t h_unit)
{
    const float *const row = r + (unit * p->r_row);
    float sum = 0.0f;
    for (int32_t k = 0; k < p->hidden; ++k) {
        sum += row[k * p->r_unit] * h[k * h_unit];
    }
    return sum;
}

/* The same and what it gets from the input. */
TW_KERNEL float ${function}_sum(const ${function}_shape *p, const float *g, const float *r, int32_t unit,
                   const float *h)
{
    return g[unit * p->g_unit] + ${function}_dot(p, r, unit, h, p->hn_unit);
}

/* Step after step for each sequence; `scratch` has room for a hidden state${" and what the reset gate leaves of one" if cell == "gru" and not before_reset else ""}. */
TW_KERNEL void ${function}(${",\n                   ".join(", ".join(parameters[at : at + 4]) for at in range(0, len(parameters), 4))})
{
    float *const next = scratch;
    for (int32_t b = 0; b < p.batches; ++b) {
        float *const h = hn + (b * p.hn_batch);
% if cell == "lstm":
        float *const c = cn + (b * p.cn_batch);
% endif
        for (int32_t j = 0; j < p.hidden; ++j) {
            h[j * p.hn_unit] = ${"h0[b * p.h0_batch + j * p.h0_unit]" if "H0" in names else "0.0f"};
% if cell == "lstm":
            c[j * p.cn_unit] = ${"c0[b * p.c0_batch + j * p.c0_unit]" if "C0" in names else "0.0f"};
% endif
        }
% if "S" in names:
        const int32_t wanted = s[b * p.s_batch];
        const int32_t length = (wanted < 0) ? 0 : ((wanted < p.steps) ? wanted : p.steps);
% else:
        const int32_t length = p.steps;
% endif
        for (int32_t t = 0; t < length; ++t) {
            const int32_t at = p.reverse ? (length - 1 - t) : t;
            const float *const gt = g + (at * p.g_step) + (b * p.g_batch);
% if cell == "gru" and not before_reset:
            float *const left = next + p.hidden;
            for (int32_t j = 0; j < p.hidden; ++j) {
                const float reset = ${function}_f0(${total(1)});
                left[j] = reset * h[j * p.hn_unit];
            }
% endif
            for (int32_t j = 0; j < p.hidden; ++j) {
% if cell == "rnn":
                next[j] = ${function}_f0(${total(0)});
% elif cell == "gru":
                const float update = ${function}_f0(${total(0)});
% if before_reset:
                const float reset = ${function}_f0(${total(1)});
                const float inner = ${dot(2, "h, p.hn_unit")}${" + rb[j * p.rb_unit]" if "RB" in names else ""};
                const float inside = reset * inner;
% else:
                const float inside = ${dot(2, "left, 1")};
% endif
                const float fresh = ${function}_f1(${given(2)} + inside);
                next[j] = ((1.0f - update) * fresh) + (update * h[j * p.hn_unit]);
% else:
                const float before = c[j * p.cn_unit];
                const float in = ${function}_f0(${total(0)}${peep(0, "before")});
% if input_forget:
                const float keep = 1.0f - in;
% else:
                const float keep = ${function}_f0(${total(2)}${peep(2, "before")});
% endif
                const float fresh = ${function}_f1(${total(3)});
% if cell_limit:
                const float after = tw_clip((keep * before) + (in * fresh), -${cell_limit}, ${cell_limit});
% else:
                const float after = (keep * before) + (in * fresh);
% endif
                const float out = ${function}_f0(${total(1)}${peep(1, "after")});
                c[j * p.cn_unit] = after;
                next[j] = out * ${function}_f2(after);
% endif
            }
            for (int32_t j = 0; j < p.hidden; ++j) {
                h[j * p.hn_unit] = next[j];
% if "Y" in names:
                y[(at * p.y_step) + (b * p.y_batch) + (j * p.y_unit)] = next[j];
% endif
            }
        }
% if "S" in names and "Y" in names:
        for (int32_t t = length; t < p.steps; ++t) {
            for (int32_t j = 0; j < p.hidden; ++j) {
                y[(t * p.y_step) + (b * p.y_batch) + (j * p.y_unit)] = 0.0f;
            }
        }
% endif
    }
}
