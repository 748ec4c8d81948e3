<%doc> Needs column (the function's name), pixels (whose columns alternate), x_type. </%doc>\
#include "assembler.h"
#include "dsp_conv.h"
#include "prelude.h"

/* Values that follow one another, as words that do not; what they are together is added to `sum`. */
static int32_t *${column}_run(const ${x_type} *x, int32_t count, int32_t *to, int32_t *sum)
{
    int32_t all = *sum;
    for (const ${x_type} *const end = x + count; x < end; ++x) {
        const int32_t value = *x;
        *to = value;
        to += ${pixels};
        all += value;
    }
    *sum = all;
    return to;
}

/* Everything that one pixel of y reads, `pad` outside, and zeros up to `groups` fours of values. Returns the sum. */
TW_APART int32_t ${column}(const tw_dsp_conv *p, const ${x_type} *x, int32_t top, int32_t left, int32_t *to)
{
    int32_t *const end = to + (p->groups * ${4 * pixels});
    int32_t sum = 0;
    for (int32_t k = 0; k < p->row_taps; ++k) {
        const int32_t line = top + (k * p->row_dilation);
        const int32_t within = (line >= 0) && (line < p->height);
        int32_t column = left;
        for (int32_t r = 0; r < p->column_runs; ++r) {
            const ${x_type} *const from = x + (line * p->x_row) + (column * p->x_step);
            if (within && (column >= 0) && ((column + p->run_taps) <= p->width)) {
                to = ${column}_run(from, p->run_taps * p->channels, to, &sum);
            } else {
                for (int32_t tap = 0; tap < p->run_taps; ++tap) {
                    if (within && ((column + tap) >= 0) && ((column + tap) < p->width)) {
                        to = ${column}_run(from + (tap * p->x_step), p->channels, to, &sum);
                    } else {
                        for (int32_t c = 0; c < p->channels; ++c) {
                            *to = p->pad;
                            to += ${pixels};
                        }
                        sum += p->pad * p->channels;
                    }
                }
            }
            column += p->column_dilation;
        }
    }
    for (; to < end; to += ${pixels}) {
        *to = 0;
    }
    return sum;
}
