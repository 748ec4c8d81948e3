<%doc>
Needs function, kind ("ss" or "us", whether x is signed), limit (see finish.c), whole (x is whole words), part (of the products:
sums are kept in `kept`, from the first part to the last), nibbles (two channels share a row of weights, see nibbles.h).
</%doc>\
#include "xpulp.h"

% if nibbles:
/* One row of results: `outputs` channels, each two with a row of `row` bytes of weights, each with a bias and a
 * scale. */
% else:
/* One row of results: `outputs` channels, each with a row of `row` bytes of weights, its bias and its scale. */
% endif
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
<% rows = (channels + 1) // 2 if nibbles else channels %>\
    for (; (o + ${channels}) <= outputs; o += ${channels}, w += ${f"{rows} * row" if rows > 1 else "row"}, b += ${2 * channels}) {
        int32_t acc[4] = {${", ".join(f"b[{2 * i}]" for i in range(channels))}};
% if part:
        if (!first) {
% for i in range(channels):
            acc[${i}] = kept[${added("o", i)}];
% endfor
        }
% endif
% if nibbles:
        const int32_t total = tw_xp_vector${channels}_${kind}_nibbles(words, x, w, row, acc);
% if channels == 1:
        acc[1] = (int32_t)(8 * (uint32_t)total); /* lower nibbles of zero */
% endif
% for i in range(0, channels, 2):
        tw_xp_pair_apart(${"last" if part else 1}, total, ${added("acc", i)});
% endfor
% else:
        tw_xp_vector${channels}_${kind}(words, x, w, row, acc);
% endif
% if part:
        if (!last) {
% for i in range(channels):
            kept[${added("o", i)}] = acc[${i}];
% endfor
            continue;
        }
% endif
% for i in range(channels):
% if limit.startswith("shift"):
        y[${added("o", i)}] = tw_xp_finished_${limit}(acc[${i}], b[${2 * i + 1}], to);
% else:
        y[${added("o", i)}] = tw_xp_finished_${limit}((float)acc[${i}] * tw_xp_scale(b + ${2 * i + 1}), to);
% endif
% endfor
    }
% endfor
}
