<%doc>
Needs name (of the products of float32), function, kind ("f16", "bf16"), at_once (rows).
</%doc>\
/* y = clip(a . b + c), where b and c are float32 already: ${at_once} rows of a at a time are widened, their results rounded once.
 * `scratch`: 64 bytes, and float32 for the elements of those rows, of a and of y. */
TW_SN_APART void ${function}(const tw_sn_products p, float low, float high, const uint16_t *a, const float *b,
        const float *c, uint16_t *y, void *scratch)
{
    const int32_t depth = p.run * p.runs;
    const int32_t at_once = (p.rows < ${at_once}) ? p.rows : ${at_once};
    float *const wide = (float *)scratch + 16;
    float *const results = wide + (at_once * depth);
    tw_sn_products q = p;
    q.run = q.a_row = depth;
    q.runs = 1;
    q.a_run = q.b_run = 0;
    q.y_row = p.outputs;
    q.y_output = 1;
    for (int32_t m = 0; m < p.rows; m += at_once) {
        q.rows = ((p.rows - m) < at_once) ? (p.rows - m) : at_once;
        tw_sn_${kind}_mode(3u);
        for (int32_t r = 0; r < q.rows; ++r) {
            tw_sn_${kind}_widen(a + ((m + r) * p.a_row), (p.runs == 1) ? 1 : p.a_run, depth, wide + (r * depth));
        }
        tw_sn_${kind}_mode(0u);
        ${name}_at(&q, low, high, wide, b, c + (m * p.c_row), results, scratch);
        tw_sn_${kind}_mode(3u);
        for (int32_t r = 0; r < q.rows; ++r) {
            tw_sn_${kind}_narrow(results + (r * p.outputs), p.outputs, y + ((m + r) * p.y_row), p.y_output);
        }
        tw_sn_${kind}_mode(0u);
    }
}
