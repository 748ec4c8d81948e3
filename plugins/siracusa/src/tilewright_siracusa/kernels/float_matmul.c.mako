<%doc>
Needs function, clip (see float_finish.c), form (see float_dot.c), joint (rows share one matrix), part (of the products:
sums are kept in `acc`).
</%doc>\
<% matmul = "tw_xp_f32_matmul_part" if part else "tw_xp_f32_matmul" %>\
/* y = clip(a . b + c): blocks of four rows and four columns share what they read. c may be 0. */
TW_KERNEL void ${function}(const ${matmul} p, const float *a, const float *b, const float *c, \
${"float *acc_from, " if part else ""}float *y)
{
% if joint:
    const int32_t fours = p.rows - (p.rows % 4);
% endif
% for rows in ((4, 1) if joint else (1,)):
% if rows == 4:
    for (int32_t m = 0; m < fours; m += 4) {
% else:
    for (int32_t m = ${"fours" if joint else "0"}; m < p.rows; ++m) {
% endif
        const float *const from[${rows}] = {${", ".join(f"a + ((m + {i}) * p.a_row)" for i in range(rows))}};
        const float *const bm = b + (m * p.b_row);
        int32_t n = 0;
% for columns in (4, 1):
        for (; ${"(n + 4) <= p.columns; n += 4" if columns == 4 else "n < p.columns; ++n"}) {
            float acc[${rows * columns}] = {0};
% if part:
            float *const kept = acc_from + ((m * p.acc_row) + (n * p.acc_column));
            if (!p.first) {
% for i in range(rows):
% for j in range(columns):
                acc[${i * columns + j}] = kept[${added(times(i, "p.acc_row"), times(j, "p.acc_column"))}];
% endfor
% endfor
            }
% endif
            tw_xp_f32_dot${rows}x${columns}_${form}(p.depth, from, p.a_depth, bm + (n * p.b_column), p.b_depth, p.b_column, acc);
% if part:
            if (!p.last) {
% for i in range(rows):
% for j in range(columns):
                kept[${added(times(i, "p.acc_row"), times(j, "p.acc_column"))}] = acc[${i * columns + j}];
% endfor
% endfor
                continue;
            }
% endif
% for i in range(rows):
            float *const y${i} = y + ((${f"(m + {i})" if i else "m"} * p.y_row) + (n * p.y_column));
            const float *const c${i} = c ? (c + ((${f"(m + {i})" if i else "m"} * p.c_row) + (n * p.c_column))) : c;
% for j in range(columns):
            y${i}[${times(j, "p.y_column")}] = tw_xp_f32_finish_${clip}(acc[${i * columns + j}] + (c${i} ? c${i}[${times(j, "p.c_column")}] : 0.0f), p.low, p.high);
% endfor
% endfor
        }
% endfor
    }
% endfor
}
