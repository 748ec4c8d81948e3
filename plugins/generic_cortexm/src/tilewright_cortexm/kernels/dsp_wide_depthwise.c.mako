<%doc>
Needs function, planes and requantise (names of functions), widen ("i8" or "u8"), rows and columns (of the kernel), stride
(of columns), stored (words of a channel beside its bias).
</%doc>\
<%
    halves = columns // 2
    words = range(halves + stride)
    more = "own[1], own[2], own[3]" if stored == 3 else "own[1], above, zero_point"

    def products(word, register):
        """Of one word of weights: with the values of both results."""
        if word > halves:
            return [f"smlad %[next], %[x{word - halves}], %[{register}], %[next]"]
        one = f"smlad %[one], %[x{word}], %[{register}], %[one]"
        if stride == 2:
            return [one, f"smlad %[next], %[x{word + 1}], %[{register}], %[next]"]
        return [one, f"smlatb %[next], %[x0], %[{register}], %[next]"] if word == 0 else [one]

    def all_rows():
        used = columns if stride == 1 else halves + 1
        for row in range(rows):
            yield from (f"ldr %[x{word}], [%[x], #{4 * (word * rows + row)}]" for word in words)
            for word in range(0, used, 2):
                at = f"[%[w], #{4 * (row * columns + word)}]"
                yield f"ldrd %[w0], %[w1], {at}" if word + 1 < used else f"ldr %[w0], {at}"
                yield from products(word, "w0")
                yield from products(word + 1, "w1") if word + 1 < used else ()
%>\
#include "depthwise.h"
#include "dsp.h"
#include <string.h>

/* The weights of a channel in pairs, from an even column on and from an odd one, each row twice but for the last. */
static void ${function}_taps(const int8_t *w, uint32_t *to)
{
    uint32_t *const again = to + ${columns * rows};
    for (int32_t i = 0; i < ${rows}; ++i) {
        for (int32_t j = 0; j < ${halves}; ++j) {
            to[j] = tw_dsp_low((uint32_t)w[2 * j], (uint32_t)w[(2 * j) + 1]);
            to[${halves + 1} + j] = tw_dsp_low((uint32_t)w[(2 * j) + 1], (uint32_t)w[(2 * j) + 2]);
        }
        to[${halves}] = tw_dsp_low((uint32_t)w[${columns - 1}], 0);
        to += ${columns};
        w += ${columns};
    }
% if rows > 1:
    (void)memcpy(again, again - ${columns * rows}, ${4 * columns * (rows - 1)});
% else:
    (void)again;
% endif
}

/* A row of results of one channel, two at a time. */
static void ${function}_row(const uint32_t *x, const uint32_t *w, const int32_t *own, uint8_t *y, int32_t y_step,
        int32_t count, int32_t above, int32_t zero_point)
{
% if stored == 3:
    (void)above;
    (void)zero_point;
% endif
    for (int32_t i = 0; i < count; i += 2) {
        int32_t one = own[0];
        int32_t next = one;
#ifdef TW_DSP_ARM /* compilers would load both factors of each product again */
        uint32_t x0;
% for word in words[1:]:
        uint32_t x${word};
% endfor
        uint32_t w0;
        uint32_t w1;
        __asm__ volatile(\
% for instruction in all_rows():

            "${instruction}\n\t"\
% endfor

            : [one] "+&r"(one), [next] "+&r"(next), ${", ".join(f'[x{word}] "=&r"(x{word})' for word in words)},
              [w0] "=&r"(w0), [w1] "=&r"(w1)
            : [x] "r"(x), [w] "r"(w) : "memory");
#else
        for (int32_t row = 0; row < ${rows}; ++row) {
            const uint32_t *const values = x + row;
            const uint32_t *const weights = w + (${columns} * row);
            for (int32_t j = 0; j <= ${halves}; ++j) {
                one = tw_dsp_mlad(values[${rows} * j], weights[j], one);
% if stride == 2:
                next = tw_dsp_mlad(values[${rows} * (j + 1)], weights[j], next);
% endif
            }
% if stride == 1:
            next = tw_dsp_mlatb(values[0], weights[0], next);
            for (int32_t j = 1; j <= ${halves}; ++j) {
                next = tw_dsp_mlad(values[${rows} * j], weights[${halves} + j], next);
            }
% endif
        }
#endif
        y[0] = ${requantise}(one, ${more});
        if ((i + 1) < count) {
            y[y_step] = ${requantise}(next, ${more});
        }
        x += ${stride * rows};
        y += 2 * y_step;
    }
}

/* Four channels at a time; the last four again where channels do not come out even. Row r of x is in slot r % ${rows}. */
static void ${function}(const tw_depthwise p, const uint8_t *x, const int8_t *w, const int32_t *parameters, uint8_t *y,
        uint32_t *taps, int32_t words, int32_t above, int32_t zero_point)
{
    const uint32_t pad = (uint32_t)p.pad * UINT32_C(0x01010101);
    uint32_t *const ring = taps + ${4 * columns * (2 * rows - 1)};
    for (int32_t i = 0; i < (${4 * rows} * words); ++i) { /* columns outside stay what they are */
        ring[i] = tw_dsp_even_${widen}(pad);
    }
    for (int32_t group = 0; group < p.channels; group += 4) {
        const int32_t c = ((group + 4) <= p.channels) ? group : (p.channels - 4);
        for (int32_t i = 0; i < 4; ++i) {
            ${function}_taps(w + (${rows * columns} * (c + i)), taps + (${columns * (2 * rows - 1)} * i));
        }
        int32_t loaded = 0; /* rows of x, from -top */
        int32_t slot = 0; /* of the next one, which is that of the first of a window when its last is there */
        for (int32_t i = 0; i < p.out_height; ++i) {
            for (; loaded < ((i * p.row_stride) + ${rows}); ++loaded) {
                const int32_t line = loaded - p.top;
                uint32_t *const to = ring + slot;
                if ((line >= 0) && (line < p.height)) {
                    ${planes}(&p, x + (line * p.x_row) + c, p.channels, pad, to, words);
                } else {
                    for (int32_t k = 0; k < (4 * words); ++k) {
                        to[${rows} * k] = tw_dsp_even_${widen}(pad);
                    }
                }
                slot = (slot == ${rows - 1}) ? 0 : (slot + 1);
            }
            for (int32_t k = 0; k < 4; ++k) {
                ${function}_row(ring + (${rows} * words * k),
                    taps + (${columns} * ((${2 * rows - 1} * k) + ((slot == 0) ? 0 : (${rows} - slot)))),
                    parameters + (${1 + stored} * (c + k)), y + (i * p.y_row) + c + k, p.channels, p.out_width, above,
                    zero_point);
            }
        }
    }
}
