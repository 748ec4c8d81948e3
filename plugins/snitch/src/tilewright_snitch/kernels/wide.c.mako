<%doc>
Needs wide, function (the same of float32), half ("f16", "bf16"), told, passed and last (what is passed on to it).
</%doc>\
/* The same of floats of 16 bits, channels last, with weights of float32: all that windows reach is widened first,
 * results are rounded once. `channels` and `outputs` are those of a pixel. `scratch`: 64 bytes, and float32 for
 * elements of x and y. */
TW_SN_APART void ${wide}(const tw_sn_windows *p, int32_t channels, int32_t outputs, ${told}float low, float high,
        const uint16_t *x, const float *w, const float *b, uint16_t *y, void *scratch)
{
    tw_sn_windows q = *p;
    q.x_column = channels;
    q.x_row = p->in_columns * channels;
    q.x_batch = p->in_rows * q.x_row;
    q.y_column = outputs;
    q.y_row = p->columns * outputs;
    q.y_batch = p->rows * q.y_row;
    float *const wide = (float *)scratch + 16;
    float *const results = wide + (p->batches * q.x_batch);
    const int32_t seen = (p->x_column == channels) ? 1 : p->in_columns;
    const int32_t made = (p->y_column == outputs) ? 1 : p->columns;
    tw_sn_${half}_mode(3u);
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t i = 0; i < p->in_rows; ++i) {
            for (int32_t j = 0; j < seen; ++j) {
                tw_sn_${half}_widen(x + ((n * p->x_batch) + (i * p->x_row) + (j * p->x_column)), 1, q.x_row / seen,
                                    wide + ((n * q.x_batch) + (i * q.x_row) + (j * channels)));
            }
        }
    }
    tw_sn_${half}_mode(0u);
    ${function}(${passed}low, high, wide, w, b, results${last});
    tw_sn_${half}_mode(3u);
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t i = 0; i < p->rows; ++i) {
            for (int32_t j = 0; j < made; ++j) {
                tw_sn_${half}_narrow(results + ((n * q.y_batch) + (i * q.y_row) + (j * outputs)), q.y_row / made,
                                     y + ((n * p->y_batch) + (i * p->y_row) + (j * p->y_column)), 1);
            }
        }
    }
    tw_sn_${half}_mode(0u);
}
