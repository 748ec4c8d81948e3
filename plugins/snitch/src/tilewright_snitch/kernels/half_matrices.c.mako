<%doc>
Needs name (of the products of float32), function, kind ("f16", "bf16"), at_once (rows, and outputs).
</%doc>\
/* y = clip(a . b): ${at_once} rows of a at a time are widened, then ${at_once} columns of b beside each other, whose results are
 * rounded once. `scratch`: 64 bytes, and float32 for those rows, those columns, and their results. */
TW_SN_APART void ${function}(const tw_sn_products p, float low, float high, const uint16_t *a, const uint16_t *b,
        const float *c, uint16_t *y, void *scratch)
{
    const int32_t depth = p.run * p.runs;
    const int32_t at_once = (p.rows < ${at_once}) ? p.rows : ${at_once};
    float *const rows = (float *)scratch + 16;
    float *const columns = rows + (at_once * depth);
    float *const results = columns + (${at_once} * depth);
    tw_sn_products q = {.run = depth, .runs = 1, .a_row = depth, .b_output = depth, .b_element = 1, .y_row = ${at_once}, .y_output = 1};
    for (int32_t m = 0; m < p.rows; m += at_once) {
        q.rows = ((p.rows - m) < at_once) ? (p.rows - m) : at_once;
        tw_sn_${kind}_mode(3u);
        for (int32_t r = 0; r < q.rows; ++r) {
            tw_sn_${kind}_widen(a + ((m + r) * p.a_row), (p.runs == 1) ? 1 : p.a_run, depth, rows + (r * depth));
        }
        for (int32_t n = 0; n < p.outputs; n += ${at_once}) {
            q.outputs = ((p.outputs - n) < ${at_once}) ? (p.outputs - n) : ${at_once};
            for (int32_t o = 0; o < q.outputs; ++o) {
                tw_sn_${kind}_widen(b + ((n + o) * p.b_output), p.b_element, depth, columns + (o * depth));
            }
            tw_sn_${kind}_mode(0u);
            ${name}_at(&q, low, high, rows, columns, c, results, scratch);
            tw_sn_${kind}_mode(3u);
            for (int32_t r = 0; r < q.rows; ++r) {
                tw_sn_${kind}_narrow(results + (r * ${at_once}), q.outputs, y + (((m + r) * p.y_row) + (n * p.y_output)), p.y_output);
            }
        }
        tw_sn_${kind}_mode(0u);
    }
}
