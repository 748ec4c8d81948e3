<%doc>
Needs function, kind ("ss" or "us", whether x is signed), limit (see finish.c), whole (x is whole words), part (of the products:
sums are kept in `kept`, from the first part to the last).
</%doc>\
<%
    instruction = {"ss": "SDOTSP", "us": "SDOTUSP"}[kind]
%>\
% for channels in (4, 2, 1):
<%
    name = f"tw_xp_vector{channels}_{kind}"
    sums, weights, words = ([f"{letter}{i}" for i in range(channels)] for letter in "swv")
    body = [f"TW_XP_LW(%[{v}], %[{w}], 4)" for v, w in zip(words, weights)]
    body[-1:] = ["TW_XP_LW(%[a], %[x], 4)", body[-1]] if channels > 1 else [body[-1], "TW_XP_LW(%[a], %[x], 4)"]
    body += [f"TW_XP_{instruction}(%[{s}], %[a], %[{v}])" for s, v in zip(sums, words)]
%>\
#ifndef ${name.upper()}
#define ${name.upper()}
/* ${channels} channel${"s" if channels > 1 else ""} of one row: `words` words of x, one at least, with each channel's row of weights. */
TW_KERNEL void ${name}(int32_t words, const uint8_t *x, const uint8_t *w, int32_t row, int32_t *acc)
{
    int32_t ${", ".join(f"{s} = acc[{i}]" for i, s in enumerate(sums))};
#ifdef TW_XP_ASM
    const uint8_t ${", ".join(f"*{w} = w + {i} * row" for i, w in enumerate(weights))};
    uint32_t a, ${", ".join(words)};
    __asm__ volatile(
        TW_XP_LOOP(${len(body)})
% for line in body:
        ${line}
% endfor
        TW_XP_LOOP_END
        : ${", ".join(f'[{s}] "+&r"({s}), [{w}] "+&r"({w}), [{v}] "=&r"({v})' for s, w, v in zip(sums, weights, words))},
          [x] "+&r"(x), [a] "=&r"(a)
        : [trips] "r"(words)
        : "memory");
% if channels == 1:
    (void)row;
% endif
#else
    for (int32_t i = 0; i < words; ++i) {
        const uint32_t a = tw_xp_load(x + 4 * i);
% for i, s in enumerate(sums):
        ${s} = tw_xp_sdot_${kind}(${s}, a, tw_xp_load(w + (${i} * row + 4 * i)));
% endfor
    }
% if channels == 1:
    (void)row;
% endif
#endif
% for i, s in enumerate(sums):
    acc[${i}] = ${s};
% endfor
}
#endif

% endfor
#ifndef ${function.upper()}
#define ${function.upper()}
/* One row of results: `outputs` channels, each with a row of `row` bytes of weights, its bias and its scale. */
TW_KERNEL void ${function}(int32_t outputs, int32_t depth, int32_t row, tw_xp_limits to, const uint8_t *x, const uint8_t *w,
        const int32_t *b, uint8_t *y, uint8_t *copy${", int32_t *kept, int32_t first, int32_t last" if part else ""})
{
    const int32_t words = ${"depth" if whole else "row"} / 4;
% if whole:
    (void)copy;
% else:
    tw_xp_copy(copy, x, depth);
    tw_xp_fill(copy + depth, 0, row - depth);
    x = copy;
% endif
    int32_t o = 0;
% for channels in (4, 2, 1):
    for (; o + ${channels} <= outputs; o += ${channels}, w += ${channels} * row, b += ${2 * channels}) {
        int32_t acc[4] = {${", ".join(f"b[{2 * i}]" for i in range(channels))}};
% if part:
        if (!first) {
% for i in range(channels):
            acc[${i}] = kept[o + ${i}];
% endfor
        }
% endif
        tw_xp_vector${channels}_${kind}(words, x, w, row, acc);
% if part:
        if (!last) {
% for i in range(channels):
            kept[o + ${i}] = acc[${i}];
% endfor
            continue;
        }
% endif
% for i in range(channels):
        y[o + ${i}] = tw_xp_finished_${limit}((float)acc[${i}] * tw_xp_scale(b + ${2 * i + 1}), to);
% endfor
    }
% endfor
}
#endif
