<%doc>
Needs what mve_block.c needs, for the blocks in `blocks`, of four columns and of what is left; function, rest (columns
of the last block, or 0), a_flip (128 where A is unsigned, or 0), pixels (rows computed together).
</%doc>\
#ifndef TW_MVE_PANEL
#define TW_MVE_PANEL
/* The sum of `count` signed bytes. */
TW_KERNEL int32_t tw_mve_total(const int8_t *x, int32_t count)
{
    int32_t sum = 0;
#ifdef TW_MVE_ARM
    __asm__ volatile(
        "wlstp.8 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.u8 q0, [%[x]], #16\n\t"
        "vaddva.s8 %[sum], q0\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&r"(x), [sum] "+&Te"(sum) : [count] "r"(count) : "lr", "q0", "cc", "memory");
#else
    for (int32_t i = 0; i < count; ++i) {
        sum += x[i];
    }
#endif
    return sum;
}

/* Up to sixteen bytes that lie `step` bytes apart, each xor `flip`. */
TW_KERNEL void tw_mve_spread(int8_t *to, const uint8_t *x, int32_t step, int32_t count, int32_t flip)
{
#ifdef TW_MVE_ARM
    const int32_t eight = 8 * step;
    int32_t lane = 0;
    __asm__ volatile(
        "vidup.u16 q1, %[lane], #1\n\t"
        "vmul.i16 q1, q1, %[step]\n\t"
        "vdup.16 q2, %[flip]\n\t"
        "wlstp.16 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.u16 q0, [%[x], q1]\n\t"
        "veor q0, q0, q2\n\t"
        "vstrb.16 q0, [%[to]], #8\n\t"
        "add %[x], %[x], %[eight]\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [to] "+&l"(to), [x] "+&r"(x), [lane] "+&Te"(lane)
        : [step] "r"(step), [eight] "r"(eight), [count] "r"(count), [flip] "r"(flip)
        : "lr", "q0", "q1", "q2", "cc", "memory");
#else
    for (int32_t i = 0; i < count; ++i) {
        to[i] = (int8_t)((x[i * step] ^ flip) & 255);
    }
#endif
}

/* `count` bytes of a row or column, `step` bytes apart, signed and zero up to the next sixteen; sixteen of them every
 * `apart` bytes. Returns their sum. */
TW_KERNEL int32_t tw_mve_gather(const uint8_t *x, int32_t step, int32_t count, int32_t flip, int8_t *to, int32_t apart)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < count; k += 16) {
        const int32_t most = count - k < 16 ? count - k : 16;
        if (step == 1) {
            tw_mve_copy(to, x, most, flip);
        } else {
            tw_mve_spread(to, x, step, most, flip);
        }
        for (int32_t i = most; i < 16; ++i) {
            to[i] = 0;
        }
        sum += tw_mve_total(to, most);
        x += 16 * step;
        to += apart;
    }
    return sum;
}

/* Columns of B as the blocks take weights: sixteen signed bytes of each column of a block in turn, zero after the
 * last. Parameters of each block: what is added to its columns' sums, then their scales. */
static void tw_mve_panel(const tw_matmul *p, const uint8_t *b, int32_t columns, int32_t a_zero, int32_t scale,
        int8_t *w, int32_t *parameters)
{
    const int32_t room = (p->depth + 15) / 16 * 16;
    for (int32_t n = 0; n < columns; ++n) {
        const int32_t first = n & ~3, lanes = columns - first < 4 ? columns - first : 4;
        const int32_t sum = tw_mve_gather(b + n * p->b_column, p->b_step, p->depth, p->b_flip,
            w + first * room + (n - first) * 16, lanes * 16);
        parameters[first + n] = a_zero * (p->depth * p->b_zero - sum);
        parameters[first + n + 4] = scale;
    }
}
#endif

% for shape in blocks:
${block_of(**shape)}\
% endfor

#ifndef ${function.upper()}
#define ${function.upper()}
/* `panel` columns at a time. Rows at a time: ${pixels}; the last ones again where they do not come out even. */
static void ${function}(const tw_matmul p, const uint8_t *a, const uint8_t *b, uint8_t *y, void *scratch,
        int32_t panel, int32_t steps, int32_t scale, int32_t zero_point)
{
    const int32_t room = (p.depth + 15) / 16 * 16, a_zero = p.a_zero - ${a_flip};
    int8_t *const rows = scratch, *const w = rows + ${pixels} * room;
    int32_t *const parameters = (int32_t *)(void *)(w + panel * room);
    uint8_t *const results = (uint8_t *)(parameters + 2 * panel);
    for (int32_t first = 0; first < p.columns; first += panel) {
        const int32_t count = p.columns - first < panel ? p.columns - first : panel;
        tw_mve_panel(&p, b + first * p.b_column, count, a_zero, scale, w, parameters);
        for (int32_t row = 0; row < p.rows; row += ${pixels}) {
            const int32_t at = row <= p.rows - ${pixels} ? row : p.rows - ${pixels};
            uint8_t *const to = y + at * p.y_row + first * p.y_step;
            tw_mve_block c = {.x = rows, .other = rows + ${(pixels - 1)} * room, .w = w, .parameters = parameters,
                .y = p.y_step == 1 ? to : results, .apart = p.y_step == 1 ? p.y_row : panel, .blocks = count / 4,
                .steps = steps, .zero_point = zero_point};
            for (int32_t j = 0; j < ${pixels}; ++j) {
                const uint8_t *const from = a + (at + j) * p.a_row;
                c.more[j] = -p.b_zero * tw_mve_gather(from, p.a_step, p.depth, ${a_flip}, rows + j * room, 16);
            }
            if (c.blocks) {
                ${blocks[0]["block"]}(&c);
            }
% if rest:
            if (count & 3) {
                c.w = w + (count & ~3) * room;
                c.parameters = parameters + 2 * (count & ~3);
                c.y += count & ~3;
                c.blocks = 1;
                ${blocks[1]["block"]}(&c);
            }
% endif
            for (int32_t i = 0; p.y_step != 1 && i < ${pixels} * count; ++i) {
                to[i / count * p.y_row + i % count * p.y_step] = results[i / count * panel + i % count];
            }
        }
    }
}
#endif
