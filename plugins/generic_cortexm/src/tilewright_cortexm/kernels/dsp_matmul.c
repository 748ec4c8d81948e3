<%doc>
Needs what dsp_block.c needs, for the blocks in `blocks`, of two columns and of one; function, widen ("i8" or "u8",
of A).
</%doc>\
#ifndef TW_DSP_PANEL
#define TW_DSP_PANEL
/* Up to four bytes of a column of B, signed, zero after the last. */
TW_KERNEL uint32_t tw_dsp_four(const uint8_t *x, int32_t step, int32_t count, int32_t flip)
{
    const uint32_t flips = (uint32_t)flip * UINT32_C(0x01010101);
    uint32_t four = 0;
    if (count >= 4) {
        return flips ^ (step == 1 ? tw_dsp_load(x)
            : (uint32_t)x[0] | (uint32_t)x[step] << 8 | (uint32_t)x[2 * step] << 16 | (uint32_t)x[3 * step] << 24);
    }
    for (int32_t i = 0; i < count; ++i) {
        four |= (uint32_t)(x[i * step] ^ flip) << (8 * i);
    }
    return four;
}

/* Columns of B as the blocks take weights: four signed bytes of each column of a block in turn, zero after the last.
 * Parameters of each block: what is added to its columns' sums, then the multiplier or scale for each. */
static void tw_dsp_panel(const tw_matmul *p, const uint8_t *b, int32_t columns, int32_t word, uint32_t *w,
        int32_t *parameters)
{
    const int32_t groups = (p->depth + 3) / 4;
    for (int32_t n = 0; n < columns; ++n) {
        const int32_t lane = n & 1, lanes = (n | 1) < columns ? 2 : 1;
        const uint8_t *x = b + n * p->b_column;
        uint32_t *to = w + (n - lane) * groups + lane;
        int32_t sum = 0;
        for (int32_t left = p->depth; left > 0; left -= 4) {
            const uint32_t four = tw_dsp_four(x, p->b_step, left, p->b_flip);
            x += 4 * p->b_step;
            sum = tw_dsp_mlad(tw_dsp_even_i8(four), UINT32_C(0x00010001), sum);
            sum = tw_dsp_mlad(tw_dsp_odd_i8(four), UINT32_C(0x00010001), sum);
            *to = four;
            to += lanes;
        }
        parameters[2 * (n - lane) + lane] = p->a_zero * (p->depth * p->b_zero - sum);
        parameters[2 * (n - lane) + lanes + lane] = word;
    }
}
#endif
#ifndef TW_DSP_ROWS_${widen.upper()}
#define TW_DSP_ROWS_${widen.upper()}
/* Row `row` of A widened, and what its zero point in B takes from every sum. `bytes` has room for the row. */
static int32_t tw_dsp_row_${widen}(const tw_matmul *p, const uint8_t *a, int32_t row, uint32_t *to, int32_t apart,
        uint8_t *bytes)
{
    const uint8_t *x = a + row * p->a_row;
    int32_t sum = 0;
    if (p->a_step != 1) {
        for (int32_t k = 0; k < p->depth; ++k) {
            bytes[k] = x[k * p->a_step];
        }
        x = bytes;
    }
    const uint32_t *const end = tw_dsp_widen_${widen}(x, p->depth, to, apart);
    if (p->b_zero != 0) {
        for (; to != end; to += apart) {
            sum = tw_dsp_mlad(to[0], UINT32_C(0x00010001), sum);
            sum = tw_dsp_mlad(to[1], UINT32_C(0x00010001), sum);
        }
    }
    return -p->b_zero * sum;
}
#endif

% for shape in blocks:
${block_of(**shape)}\
% endfor

#ifndef ${function.upper()}
#define ${function.upper()}
/* `panel` columns at a time, three rows at a time, the last ones again where they do not come out even. */
static void ${function}(const tw_matmul p, const uint8_t *a, const uint8_t *b, uint8_t *y, void *scratch,
        int32_t panel, int32_t word, int32_t above, int32_t zero_point)
{
    const int32_t groups = (p.depth + 3) / 4;
    uint32_t *const columns = scratch, *const end = columns + 6 * groups, *const w = end;
    int32_t *const parameters = (int32_t *)(w + panel * groups);
    uint8_t *const bytes = (uint8_t *)(parameters + 2 * panel), *const results = bytes + 4 * groups;
    for (int32_t first = 0; first < p.columns; first += panel) {
        const int32_t count = p.columns - first < panel ? p.columns - first : panel;
        tw_dsp_panel(&p, b + first * p.b_column, count, word, w, parameters);
        for (int32_t row = 0; row < p.rows; row += 3) {
            const int32_t at = row <= p.rows - 3 ? row : p.rows - 3;
            uint8_t *const to = y + at * p.y_row + first * p.y_step;
            tw_dsp_block c = {.columns = columns, .end = end, .w = w, .parameters = parameters,
                .y = p.y_step == 1 ? to : results, .apart = p.y_step == 1 ? p.y_row : panel, .blocks = count / 2,
                .above = above, .zero_point = zero_point};
            for (int32_t j = 0; j < 3; ++j) {
                c.more[j] = tw_dsp_row_${widen}(&p, a, at + j, columns + 2 * j, 6, bytes);
            }
            if (c.blocks) {
                ${blocks[0]["block"]}(&c);
            }
            if (count & 1) {
                c.w = w + (count - 1) * groups;
                c.parameters = parameters + 2 * (count - 1);
                c.y += count - 1;
                c.blocks = 1;
                ${blocks[1]["block"]}(&c);
            }
            for (int32_t i = 0; p.y_step != 1 && i < 3 * count; ++i) {
                to[i / count * p.y_row + i % count * p.y_step] = results[i / count * panel + i % count];
            }
        }
    }
}
#endif
