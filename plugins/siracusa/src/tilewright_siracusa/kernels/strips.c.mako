<%doc>
Needs function, kind (see dot.c), limit (see finish.c), rows (taps of a column of a window), stride (between windows of a
column), across (the same of a row), taps (of a row, four at most), pair (whether two neighbouring windows read four taps or
less), abreast (windows of a row that a strip has at most), most (of a column).

Windows are read from strips (strips.h), down a column: the weights of a channel stay in registers.
</%doc>\
#include "strips.h"

<%
    from tilewright_siracusa.kernels.strip_loops import FLOATS, StripLoop, scheduled, strip_loop
    shifted, whole = limit.startswith("shift_"), limit in ("i8", "u8")
    instruction = {"ss": "SDOTSP", "us": "SDOTUSP"}[kind]
%>\
<%def name="windows(below)">\
<% outputs = [(one, pixel) for one in range(below.below) for pixel in range(below.pixels)] %>\
% for row in below.reads:
            const uint32_t x${row} = tw_xp_load(${added("x", 32 * row)});
% endfor
% for one, pixel in outputs:
            int32_t s${one}${pixel} = bias;
% endfor
% for row in range(rows):
% for one, pixel in outputs:
            s${one}${pixel} = tw_xp_sdot_${kind}(s${one}${pixel}, x${stride * one + row}, w${pixel}${row});
% endfor
% endfor
<%
    stages = [] if shifted else ["const float f{0} = (float)s{0};", "const float v{0} = f{0} * scale;"]
    stages += ["const int32_t n{0} = tw_xp_nearest(v{0});"] if whole else []
    if shifted:
        last = f"tw_xp_finished_{limit}(s{{0}}, scale, to)"
    elif whole:
        last = f"(uint8_t)tw_xp_clip_{limit}(n{{0}} + to.zero_point)"
    else:
        last = f"tw_xp_finished_{limit}(v{{0}}, to)"
%>\
% for stage in stages: # all of a stage together: each waits for the one before
% for one, pixel in outputs:
            ${stage.format(f"{one}{pixel}")}
% endfor
% endfor
% for one, pixel in outputs:
            tw_xp_store_by(&at, ${last.format(f"{one}{pixel}")}, ${"beside" if pixel + 1 < below.pixels else "next"});
% endfor
            x += ${32 * stride * below.below};
</%def>\
% for pixels in (1, 2) if pair else (1,):
<% below = strip_loop(rows, stride, pixels) %>\
/* Columns of ${"two windows" if pixels == 2 else "one window"} of up to four channels. */
TW_XP_APART void ${function}_columns${pixels}(const tw_xp_windows *p, int32_t channels, int32_t count, const uint8_t *strip,
        const uint8_t *w, const int32_t *b, uint8_t *y)
{
% if pixels == 2:
    const int32_t beside = p->y_column;
    const int32_t next = p->y_row - beside;
% else:
    const int32_t next = p->y_row;
% endif
    const tw_xp_limits to = p->to;
    for (int32_t c = 0; c < channels; ++c) {
        const uint8_t *x = strip + (8 * c);
        uint8_t *at = y + c;
        const int32_t bias = b[c];
        const ${"int32_t scale = b[4 + c]" if shifted else "float scale = tw_xp_scale(b + 4 + c)"};
% for row in range(rows):
        const uint32_t w0${row} = tw_xp_load(${added("w", 4 * row)});
% endfor
% if pixels == 2:
% for row in range(rows):
        const uint32_t w1${row} = w0${row} << ${8 * across};
% endfor
% endif
        int32_t left = count;
% if whole:
#if defined(TW_XP_ASM) && defined(__riscv_flen)
<%
    body = scheduled(below, instruction, limit)
    kept = [*(f"s{name}" for name in below.outputs), *(f"x{row}" for row in below.reads)]
    weights = [f"w{pixel}{row}" for pixel in range(pixels) for row in range(rows)]
%>\
        if (left >= ${below.below}) {
            int32_t ${", ".join(kept)};
            __asm__ volatile(
                TW_XP_LOOP(${len(body)})
% for line in body:
                ${line}
% endfor
                TW_XP_LOOP_END
                : ${", ".join(f'[{name}] "=&r"({name})' for name in kept)},
                  [x] "+&r"(x), [at] "+&r"(at)
                : [trips] "r"(left / ${below.below}), [bias] "r"(bias), [scale] "f"(scale), [zero] "r"(to.zero_point),
                  ${'[beside] "r"(beside), ' if pixels == 2 else ""}[next] "r"(next),
                  ${", ".join(f'[{name}] "r"({name})' for name in weights)}
                : "memory", ${", ".join(f'"{register}"' for register in FLOATS)});
            left %= ${below.below};
        }
#endif
% endif
        for (; left >= ${below.below}; left -= ${below.below}) {
${windows(below)}\
        }
        for (; left > 0; --left) {
${windows(StripLoop(rows=rows, stride=stride, pixels=pixels, below=1))}\
        }
        w += ${4 * rows};
    }
}

% endfor
TW_XP_APART void ${function}(const tw_xp_windows *p, const uint8_t *x, const uint8_t *w, const int32_t *b, uint8_t *y, \
uint8_t *strip)
{
    for (int32_t c = 0; c < p->outputs; c += 4, x += 4, y += 4, w += ${16 * rows}, b += 8) {
        const int32_t lanes = ((p->outputs - c) < 4) ? (p->outputs - c) : 4;
        for (int32_t n = 0; n < p->batches; ++n) {
            for (int32_t i = 0; i < p->rows; i += ${most}) {
                const int32_t count = ((p->rows - i) < ${most}) ? (p->rows - i) : ${most};
                const int32_t top = (i * ${stride}) - p->top;
                const tw_xp_strip_rows held = tw_xp_strip_rows_at(p, top, ((count - 1) * ${stride}) + ${rows});
                const uint8_t *const from = x + ((n * p->x_batch) + ((top + held.above) * p->x_row));
                uint8_t *to = y + (n * p->y_batch) + (i * p->y_row);
                for (int32_t j = 0; j < p->columns; j += ${abreast}) {
                    const int32_t pixels = ((p->columns - j) < ${abreast}) ? (p->columns - j) : ${abreast};
                    const int32_t left = (j * ${across}) - p->left;
% if abreast == 1:
                    tw_xp_strip_fill(p, &held, left, ${taps}, lanes, c, from, strip);
% else:
                    const int32_t taps = ((pixels - 1) * ${across}) + ${taps};
                    tw_xp_strip_fill(p, &held, left, taps, lanes, c, from, strip);
                    if (taps > 4) {
                        tw_xp_strip_fill(p, &held, left + 4, taps - 4, lanes, c, from, strip + 4);
                    }
% endif
% if pair:
                    int32_t k = 0;
                    for (; (k + 1) < pixels; k += 2) {
                        ${function}_columns2(p, lanes, count, strip + ${times(across, "k")}, w, b, to);
                        to += 2 * p->y_column;
                    }
                    if (k < pixels) {
                        ${function}_columns1(p, lanes, count, strip + ${times(across, "k")}, w, b, to);
                        to += p->y_column;
                    }
% else:
                    for (int32_t k = 0; k < pixels; ++k) {
                        ${function}_columns1(p, lanes, count, strip + ${times(across, "k")}, w, b, to);
                        to += p->y_column;
                    }
% endif
                }
            }
        }
    }
}
