<%doc>
Needs function, column, block and results (names of functions), pixels, x_type, w_type, offset (what weights are more
than they count for), stored (words of a channel beside its bias).
</%doc>\
#include "assembler.h"
#include "dsp_conv.h"

/* Every channel of up to ${pixels} pixels, whose columns are there. */
TW_APART void ${function}_channels(const tw_dsp_conv *p, const int32_t *columns, const ${w_type} *w, const int32_t *own,
        int32_t *sums, uint8_t *const *y, int32_t count)
{
    const int32_t values = 4 * p->groups;
    const int32_t *const end = columns + (${pixels} * values);
    for (int32_t c = 0; c < p->outputs; ++c) {
        ${block}(columns, w, sums, end);
        ${results}(p, sums + ${pixels}, own, y, c, count);
        w += values;
        own += ${1 + stored};
    }
}

static void ${function}(const tw_dsp_conv *p, const uint8_t *x, const ${w_type} *w, const int32_t *parameters, uint8_t *y,
        int32_t *columns)
{
    int32_t sums[${2 * pixels}] = {0};
    uint8_t *to[${pixels}];
    int32_t there = 0;
    int32_t top = -p->top;
    for (int32_t i = 0; i < p->pixels; i += p->out_width) {
        int32_t left = -p->left;
        uint8_t *at = y;
        for (int32_t j = 0; j < p->out_width; ++j) {
% if offset:
            sums[there] = -${offset} * ${column}(p, (const ${x_type} *)x, top, left, columns + there);
% else:
            (void)${column}(p, (const ${x_type} *)x, top, left, columns + there);
% endif
            to[there] = at;
            ++there;
            if (there == ${pixels}) {
                ${function}_channels(p, columns, w, parameters, sums, to, there);
                there = 0;
            }
            at += p->y_step;
            left += p->column_stride;
        }
        y += p->y_row;
        top += p->row_stride;
    }
    if (there > 0) {
        ${function}_channels(p, columns, w, parameters, sums, to, there);
    }
}
