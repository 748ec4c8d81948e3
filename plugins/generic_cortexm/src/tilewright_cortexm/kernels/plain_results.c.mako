<%doc> Needs results and requantise (names of functions), pixels, fixed, exact, stored (words of a channel beside its bias). </%doc>\
<%
    names = [f"word{number}" for number in range(stored)]
    more = ", ".join([*names, *([] if stored == 3 else ["p->above", "p->zero_point"])])
%>\
#include "dsp_conv.h"

/* Sums of one channel become results of some pixels. */
static void ${results}(const tw_dsp_conv *p, const int32_t *sums, const int32_t *own, uint8_t *const *y, int32_t c,
        int32_t count)
{
% if stored == 3:
    (void)p;
% endif
    const uint32_t bias = (uint32_t)own[0];
% for number, name in enumerate(names):
    const int32_t ${name} = own[${number + 1}];
% endfor
% if fixed and exact:
    if (word0 < 0) {
        for (int32_t j = 0; j < count; ++j) {
            y[j][c] = ${requantise}_exact((int32_t)((uint32_t)sums[j] + bias), word0, p->zero_point);
        }
        return;
    }
% endif
    for (int32_t j = 0; j < count; ++j) {
        y[j][c] = ${requantise}((int32_t)((uint32_t)sums[j] + bias), ${more});
    }
}
