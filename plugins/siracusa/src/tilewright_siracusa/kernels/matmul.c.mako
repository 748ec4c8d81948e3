<%doc>
Needs function, kind (see dot.c), limit (see finish.c), whole (rows of a are whole words), zero_sums (b has a zero point),
part (of the products: sums are kept in `kept`).
</%doc>\
#include "turned.h"

<% matmul = "tw_xp_matmul_part" if part else "tw_xp_matmul" %>\
<%def name="moved()">\
% if limit.startswith("shift"):
                for (int32_t j = 0; j < 8; ++j) {
                    acc[j] = (int32_t)((uint32_t)acc[j] + (uint32_t)p.moved);
                }
% endif
</%def>\
/* Four columns of b, or `lanes`, in the order in which products read them, and what their zero points make of a sum. */
TW_KERNEL void ${function}_pack(const ${matmul} *p, const uint8_t *b, int32_t lanes, uint8_t *packed, int32_t *sums)
{
    int32_t s[4] = {0, 0, 0, 0};
    for (int32_t k = 0; k < p->depth; k += 4) {
        uint32_t r[4];
        uint32_t t[4];
% for j in range(4):
        r[${j}] = (${added("k", j)} < p->depth) ? tw_xp_load_lanes(b + (${f"(k + {j})" if j else "k"} * p->b_row), lanes) : 0;
% endfor
        tw_xp_turn(r, t);
% for j in range(4):
        tw_xp_store(${added("packed", 4 * j)}, t[${j}]);
        s[${j}] = tw_xp_sdot_${"us" if kind[1] == "u" else "ss"}(s[${j}], t[${j}], UINT32_C(0x01010101));
% endfor
        packed += 16;
    }
% for j in range(4):
    sums[${j}] = ((p->depth * p->b_zero_point) - s[${j}]) * p->a_zero_point;
% endfor
}

% if not whole:
/* A row of a, filled up with zeros. */
TW_KERNEL void ${function}_row(const ${matmul} *p, const uint8_t *a, uint8_t *to)
{
    tw_xp_copy(to, a, p->depth);
    tw_xp_fill(to + p->depth, 0, (4 - (p->depth & 3)) & 3);
}

% endif
% if zero_sums:
TW_KERNEL int32_t ${function}_sum(const ${matmul} *p, const uint8_t *a)
{
    int32_t sum = 0;
    int32_t k = 0;
    for (; (k + 4) <= p->depth; k += 4) {
        sum = tw_xp_sdot_${"us" if kind[0] == "u" else "ss"}(sum, tw_xp_load(a + k), UINT32_C(0x01010101));
    }
    for (; k < p->depth; ++k) {
        sum += *(const ${"uint8_t" if kind[0] == "u" else "int8_t"} *)(a + k);
    }
    return sum;
}

% endif
/* `scratch`: four packed columns, ${"" if whole else "two rows of a, "}${"and a sum for every row of a" if zero_sums else ""} */
TW_KERNEL void ${function}(const ${matmul} p, const uint8_t *a, const uint8_t *b, ${"int32_t *kept, " if part else ""}uint8_t *y, uint8_t *scratch)
{
    const int32_t words = (p.depth + 3) / 4;
    const int32_t finish[8] = {0, 0, 0, 0, p.scale, p.scale, p.scale, p.scale};
    uint8_t *free_bytes = scratch + (16 * words);
% if not whole:
    uint8_t *const copies = free_bytes;
    free_bytes += 8 * words;
% endif
% if zero_sums:
    for (int32_t m = 0; m < p.rows; ++m) {
        tw_xp_store(free_bytes + (4 * m), (uint32_t)(${function}_sum(&p, a + (m * p.a_row)) * p.b_zero_point));
    }
% endif
    for (int32_t n = 0; n < p.columns; n += 4) {
        const int32_t lanes = ((p.columns - n) < 4) ? (p.columns - n) : 4;
        int32_t start[4];
        ${function}_pack(&p, b + n, lanes, scratch, start);
        for (int32_t m = 0; m < p.rows; m += 2) {
            const int32_t pixels = ((p.rows - m) < 2) ? 1 : 2;
            const uint8_t *a0 = a + (m * p.a_row);
            const uint8_t *a1 = a0 + p.a_row;
            uint8_t *const to = y + (m * p.y_row) + n;
            int32_t acc[8] = {start[0], start[1], start[2], start[3], start[0], start[1], start[2], start[3]};
% if zero_sums:
% for pixel in range(2):
            const int32_t sum${pixel} = (int32_t)tw_xp_load(free_bytes + (4 * (m + ${"pixels - 1" if pixel else 0})));
% for j in range(4):
            acc[${4 * pixel + j}] -= sum${pixel};
% endfor
% endfor
% endif
% if part:
            int32_t *const kept0 = kept + ((m * p.acc_row) + n);
            int32_t *const kept1 = kept0 + ((pixels - 1) * p.acc_row);
            if (!p.first) {
                int32_t before[8] = {0};
                tw_xp_resume(pixels, lanes, kept0, kept1, before);
% for j in range(8):
                acc[${j}] += before[${j}];
% endfor
            }
% endif
% if not whole:
            ${function}_row(&p, a0, copies);
            a0 = copies;
            if (pixels == 2) {
                ${function}_row(&p, a1, copies + (4 * words));
                a1 = copies + (4 * words);
            }
% endif
            if (pixels == 2) {
                tw_xp_dot2_${kind}(1, (const uint8_t *const[]){a0, a1, 0, 0}, words, scratch, acc);
% if not part:
${moved()}\
                tw_xp_finish_${limit}(2, acc, finish, lanes, p.to, to, to + p.y_row);
% endif
            } else {
                tw_xp_dot1_${kind}(1, (const uint8_t *const[]){a0, 0}, words, scratch, acc);
% if not part:
${moved()}\
                tw_xp_finish_${limit}(1, acc, finish, lanes, p.to, to, to);
% endif
            }
% if part:
            if (p.last) {
${moved()}\
                tw_xp_finish_${limit}(pixels, acc, finish, lanes, p.to, to, to + ((pixels - 1) * p.y_row));
            } else {
                tw_xp_keep(pixels, lanes, acc, kept0, kept1);
            }
% endif
        }
    }
% if whole and not zero_sums:
    (void)free_bytes;
% endif
}
