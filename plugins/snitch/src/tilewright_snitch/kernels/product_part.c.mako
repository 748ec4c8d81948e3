<%doc>
Needs called, type, clip, begins and goes_on (the products that the first part and the others compute), together
(results are neighbours, and so are sums).
</%doc>\
/* A part of each product: sums are kept in `acc` from part to part, y is written after the last one. `q` says how sums
 * lie. */
TW_SN_APART void ${called}(tw_sn_products q, const tw_sn_results *s, ${type} low, ${type} high, const ${type} *a,
        const ${type} *b, const ${type} *c, ${type} *acc, ${type} *y, void *lanes)
{
    if (s->first) {
        q.c_row = s->c_row;
        q.c_output = s->c_output;
        ${begins}_at(&q, 0, 0, a, b, c, acc, lanes);
    } else {
        q.c_row = q.y_row;
        q.c_output = q.y_output;
        ${goes_on}_at(&q, 0, 0, a, b, acc, acc, lanes);
    }
    for (int32_t m = 0; s->last && (m < q.rows); ++m) {
% if together:
        tw_sn_${type}_${clip}_row(acc + (m * q.y_row), y + (m * s->y_row), q.outputs, low, high);
% else:
        for (int32_t n = 0; n < q.outputs; ++n) {
            tw_sn_${type}_${clip}_row(acc + ((m * q.y_row) + (n * q.y_output)), y + ((m * s->y_row) + (n * s->y_output)), 1, low, high);
        }
% endif
    }
}
