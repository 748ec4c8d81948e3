<%doc>
Needs element ("i8", "u8") and stored (its C type).
</%doc>\
/* So many as float32. */
TW_KERNEL float *tw_sn_${element}_run(const ${stored} *from, int32_t count, float *to)
{
    for (; count >= 8; count -= 8) {
% for at in range(8):
        const int32_t b${at} = from[${at}];
% endfor
% for at in range(8):
        to[${at}] = (float)b${at};
% endfor
        from += 8;
        to += 8;
    }
    for (; count > 0; --count) {
        *to++ = (float)*from++;
    }
    return to;
}

/* A row of `columns` pixels from column `left` on, channels last; some may lie outside, all of them where x is null. */
TW_SN_APART void tw_sn_${element}_widen(const tw_sn_bytes *k, int32_t left, int32_t columns, int32_t in_columns, int32_t x_column,
        const ${stored} *x, float *to)
{
    const float pad = (float)k->pad;
    const int32_t end = left + columns;
    const int32_t from = x ? ((left < 0) ? ((end < 0) ? end : 0) : left) : end;
    const int32_t inside = (end < in_columns) ? end : ((in_columns > from) ? in_columns : from);
    to = tw_sn_filled(to, (from - left) * k->wide, pad);
    if ((x_column == k->channels) && (k->wide == k->channels) && (inside > from)) {
        to = tw_sn_${element}_run(x + (from * x_column), (inside - from) * k->channels, to);
    } else {
        for (int32_t j = from; j < inside; ++j) {
            float *const next = to + k->wide;
            to = tw_sn_${element}_run(x + (j * x_column), k->channels, to);
            to = tw_sn_filled(to, (int32_t)(next - to), 0.0f);
        }
    }
    (void)tw_sn_filled(to, (end - inside) * k->wide, pad);
}
