<%doc>
Needs function, limit ("i8" or "u8" where results less their zero point are limited to the whole of such a type, "any"
otherwise), shift (whether sums are multiplied and shifted, and not multiplied as floats), ways (whether windows leave the
image where there is something else than zeros).
</%doc>\
#include "neureka_sums.h"
<%
    lanes = range(4)
    limiting = ("TW_XP_MAX(%[v{i}], %[v{i}], %[low])", "TW_XP_MIN(%[v{i}], %[v{i}], %[high])") if limit == "any" else (
        f"TW_XP_CLIP_{limit.upper()}(%[v{{i}}], %[v{{i}}])",)
    requantising = (
        '"mul %[v{i}], %[v{i}], %[m{i}]\\n\\t"', "TW_XP_ADD_SRA(%[v{i}], %[a{i}], %[shift])",
    ) if shift else (
        "TW_XP_ADD(%[v{i}], %[v{i}], %[a{i}])", '"fcvt.s.w %[f{i}], %[v{i}]\\n\\t"',
        '"fmul.s %[f{i}], %[f{i}], %[m{i}]\\n\\t"', '"fcvt.w.s %[v{i}], %[f{i}], rne\\n\\t"',
    )
    body = [f"TW_XP_LW(%[v{i}], %[from], 4)" for i in lanes[:3]] + ["TW_XP_LW_BY(%[v3], %[from], %[sum_step])"]
    body += [line.replace("{i}", str(i)) for line in (*requantising, *limiting) for i in lanes]
    body += ["TW_XP_PACK_LOW(%[v0], %[v1], %[v0])", "TW_XP_PACK_HIGH(%[v0], %[v3], %[v2])",
             "TW_XP_ADD_BYTES(%[v0], %[v0], %[zero])", "TW_XP_SW_BY(%[v0], %[to], %[y_step])"]
    asm = "defined(TW_XP_ASM)" if shift else "defined(TW_XP_ASM) && defined(__riscv_flen)"
%>\

/* One channel of one pixel; `m` and `a` are of the channel's table. */
TW_KERNEL uint8_t ${function}_one(int32_t sum, int32_t m, int32_t a, const tw_neureka_sums *p)
{
% if shift:
    const int32_t value = (int32_t)((uint32_t)sum * (uint32_t)m + (uint32_t)a) >> p->shift;
% else:
    const int32_t value = tw_xp_nearest((float)(int32_t)((uint32_t)sum + (uint32_t)a) * tw_xp_scale(&m));
% endif
    return (uint8_t)(tw_xp_limited(value, p->to.low, p->to.high) + p->to.zero_point);
}

/* A few channels of some pixels; four of them are what is fast. `table` is the first channel's, `way` says which of its
 * addends. */
TW_XP_APART void ${function}_part(const tw_neureka_area *part, const tw_neureka_sums *p, int32_t channels, int32_t way,
        const int32_t *sums, const int32_t *table, uint8_t *y)
{
    const int32_t words = p->words;
    const int32_t *const addends = table + 1 + way;
#if ${asm}
    if (channels == 4) {
        const int32_t sum_step = 4 * (part->sum_pixel - 3);
% for i in lanes:
        const ${"int32_t" if shift else "float"} m${i} = ${f"table[{i} * words]" if shift else f"tw_xp_scale(table + {i} * words)"};
        const int32_t a${i} = addends[${i} * words];
% endfor
        for (int32_t line = 0; line < part->lines; ++line) {
            const int32_t *from = sums + line * part->sum_line;
            uint8_t *to = y + line * part->y_line;
% for i in lanes:
            int32_t v${i};
% if not shift:
            float f${i};
% endif
% endfor
            __asm__ volatile(
                TW_XP_LOOP(${len(body)})
% for line in body:
                ${line}
% endfor
                TW_XP_LOOP_END
                : [from] "+&r"(from), [to] "+&r"(to)${"".join(f', [v{i}] "=&r"(v{i})' for i in lanes)}
% if not shift:
                  ${"".join(f', [f{i}] "=&f"(f{i})' for i in lanes)}
% endif
                : [trips] "r"(part->pixels), [sum_step] "r"(sum_step), [y_step] "r"(part->y_pixel),
                  ${", ".join(f'[m{i}] "{"r" if shift else "f"}"(m{i}), [a{i}] "r"(a{i})' for i in lanes)},
% if shift:
                  [shift] "r"(p->shift),
% endif
% if limit == "any":
                  [low] "r"(p->to.low), [high] "r"(p->to.high),
% endif
                  [zero] "r"((uint32_t)(p->to.zero_point & 255) * UINT32_C(0x01010101))
                : "memory");
        }
        return;
    }
#endif
    for (int32_t line = 0; line < part->lines; ++line) {
        for (int32_t pixel = 0; pixel < part->pixels; ++pixel) {
            const int32_t *const from = sums + (line * part->sum_line) + (pixel * part->sum_pixel);
            uint8_t *const to = y + (line * part->y_line) + (pixel * part->y_pixel);
            for (int32_t i = 0; i < channels; ++i) {
                to[i] = ${function}_one(from[i], table[i * words], addends[i * words], p);
            }
        }
    }
}

/* `table` has for each channel ${"a multiplier" if shift else "the bits of a scale"}, and an addend for each way in
 * which a window leaves the image. Of channels that are not whole fours some are computed twice. */
TW_KERNEL void ${function}(tw_neureka_sums p, const int32_t *sums, const int32_t *table, uint8_t *y)
{
    const int32_t channels = (p.outputs < 4) ? p.outputs : 4;
% if ways:
    const tw_neureka_cuts rows = tw_neureka_cuts_of(p.rows, p.top, p.bottom);
    const tw_neureka_cuts columns = tw_neureka_cuts_of(p.columns, p.left, p.right);
% else:
    const tw_neureka_area part = tw_neureka_area_of(&p, p.rows, p.columns);
% endif
    for (int32_t o = 0; o < p.outputs; o += channels) {
        const int32_t first = ((o + channels) > p.outputs) ? (p.outputs - channels) : o;
        const int32_t *const b = table + (first * p.words);
% if ways:
        for (int32_t i = 0; i < 3; ++i) {
            const int32_t row = rows.starts[i];
            const int32_t tall = rows.starts[i + 1] - row;
            for (int32_t j = 0; (j < 3) && (tall > 0); ++j) {
                const int32_t column = columns.starts[j];
                const int32_t wide = columns.starts[j + 1] - column;
                if (wide > 0) {
                    const tw_neureka_area part = tw_neureka_area_of(&p, tall, wide);
                    ${function}_part(&part, &p, channels, (4 * rows.ways[i]) + columns.ways[j],
                        sums + ((row * p.sum_row) + (column * p.sum_column) + first), b,
                        y + ((row * p.y_row) + (column * p.y_column) + first));
                }
            }
        }
% else:
        ${function}_part(&part, &p, channels, 0, sums + first, b, y + first);
% endif
    }
}
