<%doc> Needs tile and values (names of functions), reads, channels. </%doc>\
<% n = reads %>\
#include "dsp_winograd.h"

/* The points of one tile, whose first pixel may be outside. */
static void ${tile}(const tw_dsp_winograd *p, const uint8_t *x, int32_t top, int32_t left, uint8_t *bytes, uint32_t *v)
{
    if ((top >= 0) && (left >= 0) && ((top + ${n}) <= p->height) && ((left + ${n}) <= p->width)) {
        ${values}(x + (top * p->x_row) + (left * ${channels}), p->x_row, v);
        return;
    }
    const int32_t first = (left < 0) ? -left : 0;
    const int32_t last = ((left + ${n}) > p->width) ? (p->width - left) : ${n};
    memset(bytes, p->pad, ${n * n * channels});
    for (int32_t i = 0; i < ${n}; ++i) {
        const int32_t line = top + i;
        if ((line >= 0) && (line < p->height) && (last > first)) {
            memcpy(bytes + (((${n} * i) + first) * ${channels}),
                x + (line * p->x_row) + ((left + first) * ${channels}), (size_t)((last - first) * ${channels}));
        }
    }
    ${values}(bytes, ${n * channels}, v);
}
