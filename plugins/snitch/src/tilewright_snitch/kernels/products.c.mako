<%doc>
Needs name, type ("float", "double"), clip ("none", "low", "both"), bias, dense (outputs and biases are neighbours),
deep (there may be rounds of runs; with more than one, one block of outputs at a time).
</%doc>\
<%
    double = type == "double"
    lanes = 1 if double else 2
    size = 8 if double else 4
    rounds, given, passed = ("const tw_sn_rounds *q, ", "const tw_sn_rounds q, ", "&q, ") if deep else ("", "", "")
%>\
/* y = clip(a . b + c), as every machine computes it. */
TW_KERNEL void ${name}_plain(const tw_sn_products *p, ${rounds}${type} low, ${type} high, const ${type} *a, const ${type} *b,
        const ${type} *c, ${type} *y)
{
    for (int32_t m = 0; m < p->rows; ++m) {
        for (int32_t n = 0; n < p->outputs; ++n) {
            ${type} sum = 0;
% if deep:
            for (int32_t r = 0; r < (q->rounds * p->runs); ++r) {
                const int32_t round = r / p->runs;
                const int32_t run = r % p->runs;
                const ${type} *const ar = a + ((m * p->a_row) + (round * q->a_round) + (run * p->a_run));
                const ${type} *const br = b + ((n * p->b_output) + (round * q->b_round) + (run * p->b_run));
% else:
            for (int32_t r = 0; r < p->runs; ++r) {
                const ${type} *const ar = a + ((m * p->a_row) + (r * p->a_run));
                const ${type} *const br = b + ((n * p->b_output) + (r * p->b_run));
% endif
                for (int32_t k = 0; k < p->run; ++k) {
                    sum += ar[k] * br[k * p->b_element];
                }
            }
            if (c) {
                sum += c[(m * p->c_row) + (n * p->c_output)];
            }
            y[(m * p->y_row) + (n * p->y_output)] = tw_sn_${type}_${clip}(sum, low, high);
        }
    }
}

#ifdef TW_SN_STREAMS
% if deep:
/* Whether a row of weights is one run. */
TW_KERNEL int ${name}_whole(const tw_sn_products *p, const tw_sn_rounds *q)
{
    return ((p->runs == 1) || (p->b_run == (p->run * p->b_element))) && ((q->rounds == 1) || (q->b_round == (p->runs * p->b_run)));
}

% endif
% for width in widths:
/* Every row's outputs, ${width} at a time; rows of weights are one run, or there is one row of outputs. Returns 0, or NaN
 * where something was clipped that is infinite or NaN: minima and maxima would lose that. */
TW_SN_APART ${type} ${name}_${width}(const tw_sn_products *p, ${rounds}int32_t rows, int32_t blocks, ${type} low, ${type} high,
        const ${type} *a, const ${type} *b, const ${type} *c, ${type} *y, double *lanes)
{
% if deep:
    const int32_t whole = ${name}_whole(p, q);
    const uint32_t steps = (uint32_t)p->run / ${lanes}u;
    const uint32_t runs = (uint32_t)p->runs;
    const uint32_t all = steps * runs * (uint32_t)q->rounds;
    const uint32_t times = all - 2u;
    const int32_t step = p->b_element * ${size * lanes};
    const int32_t single = q->rounds == 1; /* then blocks have the dimension that rounds would have */
    const int32_t b_block = p->b_output * ${width * size};
    const tw_sn_walk walk_a = {{steps - 1u, runs - 1u, (uint32_t)(single ? blocks : q->rounds) - 1u, (uint32_t)rows - 1u},
                               {${size * lanes}, p->a_run * ${size}, single ? 0 : (q->a_round * ${size}), p->a_row * ${size}}};
    const tw_sn_walk walk_b = {{${width - 1}u, (whole ? all : steps) - 1u, (uint32_t)(whole ? blocks : p->runs) - 1u,
                                (uint32_t)(whole ? rows : single ? blocks : q->rounds) - 1u},
                               {p->b_output * ${size}, step, whole ? b_block : (p->b_run * ${size}),
                                whole ? 0 : single ? b_block : (q->b_round * ${size})}};
% else:
    const int32_t whole = (p->runs == 1) || (p->b_run == (p->run * p->b_element));
    const uint32_t steps = (uint32_t)p->run / ${lanes}u;
    const uint32_t runs = (uint32_t)p->runs;
    const uint32_t all = steps * runs;
    const uint32_t times = all - 2u;
    const int32_t step = p->b_element * ${size * lanes};
    const tw_sn_walk walk_a = {{steps - 1u, runs - 1u, (uint32_t)blocks - 1u, (uint32_t)rows - 1u},
                               {${size * lanes}, p->a_run * ${size}, 0, p->a_row * ${size}}};
    const int32_t b_block = p->b_output * ${width * size};
    const tw_sn_walk walk_b = {{${width - 1}u, (whole ? all : steps) - 1u, (uint32_t)(whole ? blocks : p->runs) - 1u,
                                (uint32_t)(whole ? rows : blocks) - 1u},
                               {p->b_output * ${size}, step, whole ? b_block : (p->b_run * ${size}), whole ? 0 : b_block}};
% endif
% if not dense:
    const int32_t y_step = p->y_output * ${size}${", c_step = p->c_output * %d" % size if bias else ""};
% endif
% if clip != "none":
    register ${type} lowest __asm__("${limits[0]}") = low;
% for mark in (zero, *marks):
    register ${type} ${mark} __asm__("${mark}") = 0;
% endfor
% endif
% if clip == "both":
    register ${type} highest __asm__("${limits[1]}") = high;
% endif
    tw_sn_settle();
    TW_SN_WALK(0, walk_a, ${width - 1});
    TW_SN_WALK(1, walk_b, 0);
    TW_SN_READ(0, a);
    TW_SN_READ(1, b);
    tw_sn_on();
    ${type} *to = y;
    /* Integer products take five cycles: none in a block. */
    const int32_t y_next = p->y_row - (blocks * ${width} * p->y_output);
% if bias:
    const ${type} *from = c;
    const int32_t c_next = p->c_row - (blocks * ${width} * p->c_output);
% endif
    for (int32_t m = 0; m < rows; ++m) {
        for (int32_t block = 0; block < blocks; ++block) {
            __asm__ volatile(
% for line in product_lines(width, double=double):
                ${line}
% endfor
% for line in finish_lines(width, double=double, bias=bias, clip=clip, dense=dense):
                ${line}
% endfor
                : [y] "+r"(to)${', [c] "+r"(from)' if bias else ""}${"".join(f', "+f"({mark})' for mark in marks) if clip != "none" else ""}
                : [times] "r"(times)${', [lanes] "r"(lanes)' if not double else ""}\
${', [y_step] "r"(y_step)' if not dense else ""}${', [c_step] "r"(c_step)' if bias and not dense else ""}\
${f', "f"({zero}), "f"(lowest)' if clip != "none" else ""}${', "f"(highest)' if clip == "both" else ""}
                : ${", ".join(f'"{one}"' for one in clobbered)}, "memory");
% if dense:
            to += ${width};
% endif
% if dense and bias:
            from += ${width};
% endif
        }
        to += y_next;
% if bias:
        from += c_next;
% endif
    }
    tw_sn_off();
% if not bias:
    (void)c;
% endif
% if double:
    (void)lanes;
% endif
% if clip != "both":
    (void)high;
% endif
% if clip == "none":
    (void)low;
    return 0;
% else:
    return ${" + ".join(marks)};
% endif
}

% endfor
/* Whether streams can bring all of it. */
TW_KERNEL int ${name}_fits(const tw_sn_products *p, ${rounds}const ${type} *a, const ${type} *b)
{
% if deep:
    const int32_t products = p->run * p->runs * q->rounds;
% else:
    const int32_t products = p->run * p->runs;
% endif
% if double:
    return tw_sn_near(a) && tw_sn_near(b) && (products >= 2);
% else:
    const int32_t odd = (p->run | ((p->rows > 1) ? p->a_row : 0) | p->a_run | p->b_output | p->b_run${" | q->a_round | q->b_round" if deep else ""}) & 1;
    return tw_sn_near(a) && tw_sn_near(b) && !odd && (p->b_element == 1) && (products >= 4);
% endif
}
#endif

/* y = clip(a . b + c)${"; c may be 0" if not bias else ""}. `lanes`: 64 bytes of this core's own. */
TW_SN_APART void ${name}_at(const tw_sn_products *p, ${given}${type} low, ${type} high, const ${type} *a, const ${type} *b,
        const ${type} *c, ${type} *y, void *lanes)
{
#ifdef TW_SN_STREAMS
    if (p->rows > 0 && p->outputs > 0 && ${name}_fits(p, ${passed}a, b)) {
% if deep:
        const int32_t at_once = ${name}_whole(p, &q) ? p->rows : 1;
% else:
        const int32_t at_once = ((p->runs == 1) || (p->b_run == (p->run * p->b_element))) ? p->rows : 1;
% endif
        ${type} wild = 0;
        for (int32_t m = 0; m < p->rows; m += at_once) {
            int32_t n = 0;
% for width in widths:
            ${"while" if deep else "if"} ((p->outputs - n) >= ${width}) {
                const int32_t blocks = ${"(q.rounds > 1) ? 1 : " if deep else ""}((p->outputs - n) / ${width});
                wild += ${name}_${width}(p, ${passed}at_once, blocks, low, high, a + (m * p->a_row), b + (n * p->b_output),
                        ${"c + (m * p->c_row + n * p->c_output)" if bias else "c"}, y + ((m * p->y_row) + (n * p->y_output)), (double *)lanes);
                n += blocks * ${width};
            }
% endfor
        }
        if (wild == wild) {
            return;
        }
    }
#endif
    (void)lanes;
    ${name}_plain(p, ${passed}low, high, a, b, c, y);
}

/* The same of what a call says. */
TW_KERNEL void ${name}(const tw_sn_products p, ${given}${type} low, ${type} high, const ${type} *a, const ${type} *b,
        const ${type} *c, ${type} *y, void *lanes)
{
    ${name}_at(&p, ${"q, " if deep else ""}low, high, a, b, c, y, lanes);
}
