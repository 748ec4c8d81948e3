<%doc>
Needs function, widen ("i8" or "u8", of x), shapes (of blocks: first output, how many blocks, channels in each), paired
(whether words hold weights of two channels), depth (fours of values in all), twice, requantise.
</%doc>\
#include "dsp.h"

/* Products of `count` more values of the only row, from the one at `start` on, added to the sums in `acc`; with the
 * last of them the results. */
TW_KERNEL void ${function}(const uint8_t *x, const uint32_t *w, const int32_t *parameters, uint8_t *y, int32_t *acc,
        int32_t start, int32_t count, int32_t first, int32_t last, int32_t above, int32_t zero_point)
{
% if twice:
    (void)above;
    (void)zero_point;
% endif
% for at, blocks, channels in shapes:
    for (int32_t c = ${at}; c < ${at + blocks * channels}; c += ${channels}) {
        const uint32_t *weights = w + (c * ${depth}) + (start / 4 * ${channels});
        const int32_t *const p = parameters + (${4 if twice else 2} * c);
        const int32_t *const begun = first ? p : (acc + c);
% for k in range(channels):
        int32_t sum_${k} = begun[${k}];
% endfor
        for (const uint8_t *at = x; at != (x + count); at += 4) {
            const uint32_t v = tw_dsp_load(at);
            const uint32_t even = tw_dsp_even_${widen}(v);
            const uint32_t odd = tw_dsp_odd_${widen}(v);
% for k in range(channels):
% if paired and k % 2:
            sum_${k} = tw_dsp_mlad(even, weights[${k - 1}], sum_${k});
            sum_${k} = tw_dsp_mlad(odd, weights[${k}], sum_${k});
% else:
            sum_${k} = tw_dsp_mlad(even, tw_dsp_even_i8(weights[${k}]), sum_${k});
            sum_${k} = tw_dsp_mlad(odd, tw_dsp_${"even_i8" if paired and k + 1 < channels else "odd_i8"}\
(weights[${k + 1 if paired and k + 1 < channels else k}]), sum_${k});
% endif
% endfor
            weights += ${channels};
        }
        if (last) {
% for k in range(channels):
            y[${added("c", k)}] = ${requantise}(${f"tw_dsp_upper(sum_{k}, sum_{k - 1})" if paired and k % 2 else f"sum_{k}"}, \
${f"p[{channels + 2 * k}], p[{channels + 2 * k + 1}], p[{3 * channels + k}]" if twice else f"p[{channels + k}], above, zero_point"});
% endfor
        } else {
% for k in range(channels):
            acc[${added("c", k)}] = sum_${k};
% endfor
        }
    }
% endfor
}
