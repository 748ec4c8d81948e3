<%doc>
Needs function, clip (see float_finish.c), edges (taps may lie outside), taps (rows and columns), stride and dilation of columns.
</%doc>\
#include "float_lane.h"
#include "windows.h"

<%
    row_taps, column_taps = taps
    last_row, last_column = row_taps - 1, (column_taps - 1) * dilation

    def columns_of(pixels):
        return sorted({pixel * stride + tap * dilation for pixel in range(pixels) for tap in range(column_taps)})
%>\
/* Channel by channel: its filter stays in registers along a row, two neighbouring windows share what they read. */
TW_KERNEL void ${function}(const tw_xp_windows p, const tw_xp_lane_floats f, const float *x, const float *w, const float *b,
        float *y)
{
    const int32_t column = p.x_column, ${"row = p.row_dilation * p.x_row, " if row_taps > 1 else ""}step = ${times(stride, "p.x_column")};
    for (int32_t o = 0; o < p.outputs; ++o) {
        const float *const wo = w + (o * f.w_channel);
        const float bias = b ? b[o] : 0.0f;
% for i in range(row_taps * column_taps):
        const float w${i} = wo[${times(i, 'f.w_tap')}];
% endfor
        for (int32_t n = 0; n < p.batches; ++n) {
            for (int32_t i = 0; i < p.rows; ++i) {
                const int32_t top = (i * p.row_stride) - p.top;
                int32_t from = (o * f.x_channel) + (n * p.x_batch) + (top * p.x_row) - (p.left * p.x_column);
                float *to = y + ((o * f.y_channel) + (n * p.y_batch) + (i * p.y_row));
                int32_t left = p.columns;
% if edges:
                const int32_t whole = (top >= 0) && (${added("top", times(last_row, "p.row_dilation"))} < p.in_rows);
                int32_t start = -p.left;
% endif
                while (left > 0) {
% for pixels in (2, 1):
<%
    inside = f"whole && start >= 0 && {added('start', last_column + (pixels - 1) * stride)} < p.in_columns"
    condition = " && ".join((["left >= 2"] if pixels == 2 else []) + ([inside] if edges else []))
%>\
                    ${"" if pixels == 2 else "} else "}${f"if ({condition}) " if condition else ""}{
                        const float *const at = x + from;
% for q in range(pixels):
                        float s${q} = bias;
% endfor
% for kr in range(row_taps):
% for c in columns_of(pixels):
                        const float x${kr}_${c} = at[${added(times(kr, 'row'), times(c, 'column'))}];
% endfor
% for kc in range(column_taps):
% for q in range(pixels):
                        s${q} = tw_xp_f32_fma(x${kr}_${q * stride + kc * dilation}, w${kr * column_taps + kc}, s${q});
% endfor
% endfor
% endfor
% for q in range(pixels):
                        to[${times(q, "p.y_column")}] = tw_xp_f32_finish_${clip}(s${q}, f.low, f.high);
% endfor
                        from += ${times(pixels, "step")};
                        to += ${times(pixels, "p.y_column")};
                        left -= ${pixels};
% if edges:
                        start += ${pixels * stride};
% endif
% endfor
% if edges:
                    } else {
                        float sum = bias;
% for kr in range(row_taps):
                        if ((uint32_t)${f"({added('top', times(kr, 'p.row_dilation'))})" if kr else "top"} < (uint32_t)p.in_rows) {
% for kc in range(column_taps):
                            if ((uint32_t)${f"(start + {kc * dilation})" if kc else "start"} < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[${added("from", times(kr, "row"), times(kc * dilation, "column"))}], w${kr * column_taps + kc}, sum);
                            }
% endfor
                        }
% endfor
                        *to = tw_xp_f32_finish_${clip}(sum, f.low, f.high);
                        from += step;
                        to += p.y_column;
                        left -= 1;
                        start += ${stride};
% endif
                    }
                }
            }
        }
    }
}
