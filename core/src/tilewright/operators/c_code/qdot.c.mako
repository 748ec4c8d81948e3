<%doc> Needs x_type, w_type (C types), bits (of the accumulator) and dot, a name that carries all three. </%doc>\
<% wide = "(int64_t)" if bits == 64 else "" %>\
/* Sums of (x - x_zero_point) * (w - w_zero_point), added to the accumulators of one or of four outputs. */
typedef struct {
    int32_t count; /* products */
    /* elements between the factors of successive products */
    int32_t x_step;
    int32_t w_step;
    /* elements between the factors of successive outputs */
    int32_t x_apart;
    int32_t w_apart;
    int32_t x_zero_point;
    const int32_t *w_zero_points; /* one per output; null where all are zero */
} ${dot};

TW_KERNEL void ${dot}_1(${dot} p, const ${x_type} *x, const ${w_type} *w, int${bits}_t *acc)
{
    const int32_t z0 = p.w_zero_points ? p.w_zero_points[0] : 0;
    int${bits}_t sum = acc[0];
    for (int32_t i = 0; i < p.count; ++i) {
        sum += ${wide}(x[i * p.x_step] - p.x_zero_point) * (w[i * p.w_step] - z0);
    }
    acc[0] = sum;
}

TW_KERNEL void ${dot}_4(${dot} p, const ${x_type} *x, const ${w_type} *w, int${bits}_t *acc)
{
    const int32_t *const z = p.w_zero_points;
    const int32_t z0 = z ? z[0] : 0;
    const int32_t z1 = z ? z[1] : 0;
    const int32_t z2 = z ? z[2] : 0;
    const int32_t z3 = z ? z[3] : 0;
    int${bits}_t sum0 = acc[0];
    int${bits}_t sum1 = acc[1];
    int${bits}_t sum2 = acc[2];
    int${bits}_t sum3 = acc[3];
    for (int32_t i = 0; i < p.count; ++i) {
        const ${x_type} *const xi = x + (i * p.x_step);
        const ${w_type} *const wi = w + (i * p.w_step);
        sum0 += ${wide}(xi[0] - p.x_zero_point) * (wi[0] - z0);
        sum1 += ${wide}(xi[p.x_apart] - p.x_zero_point) * (wi[p.w_apart] - z1);
        sum2 += ${wide}(xi[2 * p.x_apart] - p.x_zero_point) * (wi[2 * p.w_apart] - z2);
        sum3 += ${wide}(xi[3 * p.x_apart] - p.x_zero_point) * (wi[3 * p.w_apart] - z3);
    }
    acc[0] = sum0;
    acc[1] = sum1;
    acc[2] = sum2;
    acc[3] = sum3;
}
