<%doc>
Needs name, clip ("none", "low", "both"), dense (products of a row of a are neighbours), widths, heights (rows of a block),
lines (of a height and a width), limits, mark (registers), clobbered.
</%doc>\
/* y = clip(a . b) where outputs of a row are neighbours, in b and in y. Steps are in elements. */
typedef struct {
    int32_t rows;
    int32_t outputs;
    int32_t depth;
    /* elements are those of a sum */
    int32_t a_row;
    int32_t a_element;
    int32_t b_element;
    int32_t y_row;
} ${name}_matrices;

/* Outputs from `first` on, as every machine computes them. */
TW_KERNEL void ${name}_plain(const ${name}_matrices *p, int32_t first, float low, float high, const float *a,
        const float *b, float *y)
{
    for (int32_t m = 0; m < p->rows; ++m) {
        for (int32_t n = first; n < p->outputs; ++n) {
            float sum = 0;
            for (int32_t k = 0; k < p->depth; ++k) {
                sum += a[(m * p->a_row) + (k * p->a_element)] * b[(k * p->b_element) + n];
            }
% if clip == "low":
            sum = (sum < low) ? low : sum;
% elif clip == "both":
            sum = (sum < low) ? low : ((sum > high) ? high : sum);
% endif
            y[(m * p->y_row) + n] = sum;
        }
    }
% if clip == "none":
    (void)low;
% endif
% if clip != "both":
    (void)high;
% endif
}

#ifdef TW_SN_STREAMS
% for height in heights:
% for width in widths:
/* Blocks of ${height} row${"s" if height > 1 else ""} and ${2 * width} outputs. Returns 0, or NaN where minima and maxima may have lost one. */
TW_SN_APART float ${name}_${height}_${width}(const ${name}_matrices *p, int32_t blocks, float low, float high, const float *a,
        const float *b, float *y)
{
    const tw_sn_walk walk = {{${width - 1}u, (uint32_t)p->depth - 1u, (uint32_t)blocks - 1u, 0}, {8, p->b_element * 4, 0, 0}};
    const int32_t a_next = ${height} * p->a_row;
    const int32_t y_next = ${height} * p->y_row;
    const int32_t length = p->depth * p->a_element;
    const int32_t fours = p->depth / 4 * 4 * p->a_element;
% if not dense:
    const int32_t step = p->a_element * 4;
% endif
% if clip == "none":
    (void)low;
% else:
    register double lowest __asm__("${limits[0]}") = tw_sn_pair(low);
    register double wild __asm__("${mark}") = 0;
% endif
% if clip == "both":
    register double highest __asm__("${limits[1]}") = tw_sn_pair(high);
% else:
    (void)high;
% endif
    tw_sn_settle();
    TW_SN_WALK(0, walk, ${height - 1});
    TW_SN_READ(0, b);
    tw_sn_on();
    for (int32_t block = 0; block < blocks; ++block) {
        const float *a0 = a;
        const float *const whole = a + fours;
        const float *const end = a + length;
% if height == 2:
        const float *a1 = a + (a_next / 2);
        float *const y1 = y + (y_next / 2);
% endif
        __asm__ volatile(
% for line in lines(height, width):
            ${line}
% endfor
            : [a0] "+r"(a0)${', [a1] "+r"(a1)' if height == 2 else ""}${', "+f"(wild)' if clip != "none" else ""}
            : [whole] "r"(whole), [end] "r"(end), [y0] "r"(y)${', [y1] "r"(y1)' if height == 2 else ""}\
${"" if dense else ', [step] "r"(step)'}${', "f"(lowest)' if clip != "none" else ""}${', "f"(highest)' if clip == "both" else ""}
            : ${", ".join(f'"{one}"' for one in clobbered)}, "memory");
        a += a_next;
        y += y_next;
    }
    tw_sn_off();
    return ${"0.0f" if clip == "none" else "tw_sn_halves(wild)"};
}

% endfor
% endfor
/* Whether streams can bring b, and pairs can be stored. */
TW_KERNEL int ${name}_fits(const ${name}_matrices *p, const float *b, const float *y)
{
    return tw_sn_near(b) && (((uint32_t)(uintptr_t)y % 8u) == 0u) && (((p->b_element | p->y_row) & 1) == 0) && (p->depth > 0);
}
#endif

TW_SN_APART void ${name}(const ${name}_matrices p, float low, float high, const float *a, const float *b, float *y)
{
    int32_t n = 0;
#ifdef TW_SN_STREAMS
    if (${name}_fits(&p, b, y)) {
        float wild = 0.0f;
% for width in widths:
        for (; (p.outputs - n) >= ${2 * width}; n += ${2 * width}) {
            if (p.rows >= 2) {
                wild += ${name}_2_${width}(&p, p.rows / 2, low, high, a, b + n, y + n);
            }
            if (p.rows % 2) {
                const int32_t last = p.rows - 1;
                wild += ${name}_1_${width}(&p, 1, low, high, a + (last * p.a_row), b + n, y + ((last * p.y_row) + n));
            }
        }
% endfor
        n = (wild == wild) ? n : 0;
    }
#endif
    ${name}_plain(&p, n, low, high, a, b, y);
}
