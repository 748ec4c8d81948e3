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
    parameters = [f"const {function}_shape p", *(f"{types[name]}{'peep' if name == 'P' else name.lower()}" for name in names), "float *next"]
    def dot(gate, state):
        return f"{function}_dot(&p, r + ({gate} * p.hidden + j) * p.r_row, {state})"
    def given(gate):
        return f"gt[({gate} * p.hidden + j) * p.g_unit]"
    def peep(gate, state):
        return f" + peep[({gate} * p.hidden + j) * p.p_unit] * {state}" if "P" in names else ""
    def gate(which):
        return f"{function}_f{which}(tw_clip(" if clip else f"{function}_f{which}("
    close = f", -{clip}, {clip}))" if clip else ")"
%>\
typedef struct { /* elements between neighbours, but for the first line */
    int32_t steps, batches, hidden, reverse;
% for name in names:
    int32_t ${", ".join(f"{name.lower()}_{axis}" for axis in strides[name])};
% endfor
} ${function}_shape;

% for index, expression in enumerate(functions):
TW_KERNEL float ${function}_f${index}(float v)
{
    return ${expression};
}

% endfor
/* What one unit gets from the state before. */
TW_KERNEL float ${function}_dot(const ${function}_shape *p, const float *r, const float *h, int32_t h_unit)
{
    float sum = 0.0f;
    for (int32_t k = 0; k < p->hidden; ++k) {
        sum += r[k * p->r_unit] * h[k * h_unit];
    }
    return sum;
}

/* Step after step for each sequence; `next` has room for a hidden state${" and what the reset gate leaves of one" if cell == "gru" and not before_reset else ""}. */
TW_KERNEL void ${function}(${", ".join(parameters)})
{
    for (int32_t b = 0; b < p.batches; ++b) {
        float *const h = hn + b * p.hn_batch;
% if cell == "lstm":
        float *const c = cn + b * p.cn_batch;
% endif
        for (int32_t j = 0; j < p.hidden; ++j) {
            h[j * p.hn_unit] = ${"h0[b * p.h0_batch + j * p.h0_unit]" if "H0" in names else "0.0f"};
% if cell == "lstm":
            c[j * p.cn_unit] = ${"c0[b * p.c0_batch + j * p.c0_unit]" if "C0" in names else "0.0f"};
% endif
        }
% if "S" in names:
        const int32_t wanted = s[b * p.s_batch];
        const int32_t length = wanted < 0 ? 0 : (wanted < p.steps ? wanted : p.steps);
% else:
        const int32_t length = p.steps;
% endif
        for (int32_t t = 0; t < length; ++t) {
            const int32_t at = p.reverse ? length - 1 - t : t;
            const float *const gt = g + at * p.g_step + b * p.g_batch;
% if cell == "gru" and not before_reset:
            float *const left = next + p.hidden;
            for (int32_t j = 0; j < p.hidden; ++j) {
                const float reset = ${gate(0)}${given(1)} + ${dot(1, "h, p.hn_unit")}${close};
                left[j] = reset * h[j * p.hn_unit];
            }
% endif
            for (int32_t j = 0; j < p.hidden; ++j) {
% if cell == "rnn":
                next[j] = ${gate(0)}${given(0)} + ${dot(0, "h, p.hn_unit")}${close};
% elif cell == "gru":
                const float update = ${gate(0)}${given(0)} + ${dot(0, "h, p.hn_unit")}${close};
% if before_reset:
                const float reset = ${gate(0)}${given(1)} + ${dot(1, "h, p.hn_unit")}${close};
                const float inside = reset * (${dot(2, "h, p.hn_unit")}${" + rb[j * p.rb_unit]" if "RB" in names else ""});
% else:
                const float inside = ${dot(2, "left, 1")};
% endif
                const float fresh = ${gate(1)}${given(2)} + inside${close};
                next[j] = (1.0f - update) * fresh + update * h[j * p.hn_unit];
% else:
                const float before = c[j * p.cn_unit];
                const float in = ${gate(0)}${given(0)} + ${dot(0, "h, p.hn_unit")}${peep(0, "before")}${close};
% if input_forget:
                const float keep = 1.0f - in;
% else:
                const float keep = ${gate(0)}${given(2)} + ${dot(2, "h, p.hn_unit")}${peep(2, "before")}${close};
% endif
                const float fresh = ${gate(1)}${given(3)} + ${dot(3, "h, p.hn_unit")}${close};
                const float after = keep * before + in * fresh;
                const float out = ${gate(0)}${given(1)} + ${dot(1, "h, p.hn_unit")}${peep(1, "after")}${close};
                c[j * p.cn_unit] = after;
                next[j] = out * ${function}_f2(after);
% endif
            }
            for (int32_t j = 0; j < p.hidden; ++j) {
                h[j * p.hn_unit] = next[j];
% if "Y" in names:
                y[at * p.y_step + b * p.y_batch + j * p.y_unit] = next[j];
% endif
            }
        }
% if "S" in names and "Y" in names:
        for (int32_t t = length; t < p.steps; ++t) {
            for (int32_t j = 0; j < p.hidden; ++j) {
                y[t * p.y_step + b * p.y_batch + j * p.y_unit] = 0.0f;
            }
        }
% endif
    }
}
