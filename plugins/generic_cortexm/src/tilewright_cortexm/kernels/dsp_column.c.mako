<%doc> Needs widen (see dsp_widen.c.mako, or "bytes" to leave them so). </%doc>\
<%
    summed = widen.endswith("_summed")
    more, sum = (", uint32_t *sum", ", sum") if summed else ("", "")
%>\
#include "dsp_conv.h"
#include "dsp.h"

/* One run at the edge of a row: taps outside read the padding value. */
static uint32_t *tw_dsp_edge_${widen}(const tw_dsp_conv *p, const uint8_t *row, int32_t column, uint32_t *to,
        int32_t apart, uint8_t *bytes${more})
{
    const int32_t first = (column < 0) ? ((-column < p->run_taps) ? -column : p->run_taps) : 0;
    const int32_t room = p->width - column;
    const int32_t last = (room < p->run_taps) ? ((room > first) ? room : first) : p->run_taps;
    memset(bytes, p->pad, (size_t)(p->run_taps * p->channels));
    if (row && (last > first)) {
        memcpy(bytes + (first * p->channels), row + ((column + first) * p->x_step),
            (size_t)((last - first) * p->channels));
    }
    return tw_dsp_widen_${widen}(bytes, p->run_taps * p->channels, to, apart${sum});
}

/* Everything that one pixel of y reads, widened. */
TW_KERNEL void tw_dsp_column_${widen}(const tw_dsp_conv *p, const uint8_t *x, int32_t pixel, uint32_t *to,
        int32_t apart, uint8_t *bytes${more})
{
    const int32_t i = pixel / p->out_width;
    const int32_t top = (i * p->row_stride) - p->top;
    const int32_t left = ((pixel - (i * p->out_width)) * p->column_stride) - p->left;
    for (int32_t k = 0; k < p->row_taps; ++k) {
        const int32_t line = top + (k * p->row_dilation);
        const int32_t outside = (line < 0) || (line >= p->height);
        const uint8_t *const row = outside ? (const uint8_t *)0 : (x + (line * p->x_row));
        for (int32_t r = 0; r < p->column_runs; ++r) {
            const int32_t column = left + (r * p->column_dilation);
            if (outside || (column < 0) || ((column + p->run_taps) > p->width)) {
                to = tw_dsp_edge_${widen}(p, row, column, to, apart, bytes${sum});
            } else {
                to = tw_dsp_widen_${widen}(row + (column * p->x_step), p->run_taps * p->channels, to, apart${sum});
            }
        }
    }
}
