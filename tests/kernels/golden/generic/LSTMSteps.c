/* What the portable kernels below rely on. */
#if defined(__FAST_MATH__)
#  error "build this file without -ffast-math: results would no longer be the ones that were checked"
#endif
#ifndef TW_KERNEL /* -DTW_KERNEL='static' keeps one copy of each kernel: smaller, slower */
#  if defined(__GNUC__)
#    define TW_KERNEL static inline __attribute__((always_inline, unused))
#  else
#    define TW_KERNEL static inline
#  endif
#endif

/* 2^n for -126 <= n <= 127. */
TW_KERNEL float tw_exp2_int(int32_t n)
{
    const union { uint32_t bits; float value; } power = {.bits = (uint32_t)(n + 127) << 23};
    return power.value;
}

/* exp(x), at most 1 ULP off: x = n ln2 + r, |r| <= ln2/2, exp(x) = 2^n (1 + r + r^2 q(r)). NaN stays NaN. */
TW_KERNEL float tw_expf(float x)
{
    if (!(x > -104.0f)) {
        return (x < 0.0f) ? 0.0f : x;
    }
    if (x > 89.0f) {
        return INFINITY;
    }
    const float scaled = x * 0x1.7154760000000p+0f;
    const float moved = (scaled < 0.0f) ? (scaled - 0.5f) : (scaled + 0.5f);
    const int32_t n = (int32_t)moved;
    const float r = (x - ((float)n * 0x1.62e4000000000p-1f)) - ((float)n * 0x1.7f7d1c0000000p-20f);
    const float q = 0x1.0000000000000p-1f
        + (r * (0x1.5554660000000p-3f
        + (r * (0x1.5552fe0000000p-5f
        + (r * (0x1.1257d20000000p-7f
        + (r * 0x1.6ff2540000000p-10f)))))));
    const float mantissa = 1.0f + (r + (r * r * q));
    const int32_t half = n / 2; /* two steps: results below 2^-126 and above 2^127 are reached through normal ones */
    return mantissa * tw_exp2_int(half) * tw_exp2_int(n - half);
}

/* 1 / (1 + exp(-x)), by an exponential that cannot overflow. */
TW_KERNEL float tw_sigmoidf(float x)
{
    const float e = tw_expf((x < 0.0f) ? x : -x);
    return ((x < 0.0f) ? e : 1.0f) / (1.0f + e);
}

/* exp(x) - 1 without cancellation: x = n ln2 + r, exp(x) - 1 = 2^n (r + r^2 q(r) + 1 - 2^-n). */
TW_KERNEL float tw_expm1f(float x)
{
    if (!(x > -18.0f)) {
        return (x < 0.0f) ? -1.0f : x;
    }
    if (x > 89.0f) {
        return INFINITY;
    }
    const float scaled = x * 0x1.7154760000000p+0f;
    const float moved = (scaled < 0.0f) ? (scaled - 0.5f) : (scaled + 0.5f);
    const int32_t n = (int32_t)moved;
    const float r = (x - ((float)n * 0x1.62e4000000000p-1f)) - ((float)n * 0x1.7f7d1c0000000p-20f);
    const float q = 0x1.0000000000000p-1f
        + (r * (0x1.5555540000000p-3f
        + (r * (0x1.5554f00000000p-5f
        + (r * (0x1.1113080000000p-7f
        + (r * (0x1.6d436e0000000p-10f
        + (r * 0x1.9e07820000000p-13f)))))))));
    const float p = r + (r * r * q);
    if (n == 0) {
        return p;
    }
    const float mantissa = p + (1.0f - ((n > 40) ? 0.0f : tw_exp2_int(-n)));
    const int32_t half = n / 2;
    return mantissa * tw_exp2_int(half) * tw_exp2_int(n - half);
}

/* tanh(x) = t / (t + 2), t = exp(2x) - 1. */
TW_KERNEL float tw_tanhf(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    if (!(size < 10.0f)) {
        return (x < 0.0f) ? -1.0f : ((x > 0.0f) ? 1.0f : x);
    }
    const float t = tw_expm1f(2.0f * size);
    const float y = t / (t + 2.0f);
    return (x < 0.0f) ? -y : y;
}

typedef struct { /* elements between neighbours, but for the first line */
    int32_t steps;
    int32_t batches;
    int32_t hidden;
    int32_t reverse;
    int32_t g_step, g_batch, g_unit;
    int32_t r_row, r_unit;
    int32_t hn_batch, hn_unit;
    int32_t cn_batch, cn_unit;
    int32_t y_step, y_batch, y_unit;
} tw_lstm_29a07aee_shape;

TW_KERNEL float tw_lstm_29a07aee_f0(float v)
{
    return tw_sigmoidf(v);
}

TW_KERNEL float tw_lstm_29a07aee_f1(float v)
{
    return tw_tanhf(v);
}

TW_KERNEL float tw_lstm_29a07aee_f2(float v)
{
    return tw_tanhf(v);
}

/* What one unit gets from the state before. */
TW_KERNEL float tw_lstm_29a07aee_dot(const tw_lstm_29a07aee_shape *p, const float *r, int32_t unit, const float *h,
                   int32_t h_unit)
{
    const float *const row = r + (unit * p->r_row);
    float sum = 0.0f;
    for (int32_t k = 0; k < p->hidden; ++k) {
        sum += row[k * p->r_unit] * h[k * h_unit];
    }
    return sum;
}

/* The same and what it gets from the input. */
TW_KERNEL float tw_lstm_29a07aee_sum(const tw_lstm_29a07aee_shape *p, const float *g, const float *r, int32_t unit,
                   const float *h)
{
    return g[unit * p->g_unit] + tw_lstm_29a07aee_dot(p, r, unit, h, p->hn_unit);
}

/* Step after step for each sequence; `scratch` has room for a hidden state. */
TW_KERNEL void tw_lstm_29a07aee(const tw_lstm_29a07aee_shape p, const float *g, const float *r, float *hn,
                   float *cn, float *y, void *scratch)
{
    float *const next = scratch;
    for (int32_t b = 0; b < p.batches; ++b) {
        float *const h = hn + (b * p.hn_batch);
        float *const c = cn + (b * p.cn_batch);
        for (int32_t j = 0; j < p.hidden; ++j) {
            h[j * p.hn_unit] = 0.0f;
            c[j * p.cn_unit] = 0.0f;
        }
        const int32_t length = p.steps;
        for (int32_t t = 0; t < length; ++t) {
            const int32_t at = p.reverse ? (length - 1 - t) : t;
            const float *const gt = g + (at * p.g_step) + (b * p.g_batch);
            for (int32_t j = 0; j < p.hidden; ++j) {
                const float before = c[j * p.cn_unit];
                const float in = tw_lstm_29a07aee_f0(tw_lstm_29a07aee_sum(&p, gt, r, j, h));
                const float keep = tw_lstm_29a07aee_f0(tw_lstm_29a07aee_sum(&p, gt, r, 2 * p.hidden + j, h));
                const float fresh = tw_lstm_29a07aee_f1(tw_lstm_29a07aee_sum(&p, gt, r, 3 * p.hidden + j, h));
                const float after = (keep * before) + (in * fresh);
                const float out = tw_lstm_29a07aee_f0(tw_lstm_29a07aee_sum(&p, gt, r, p.hidden + j, h));
                c[j * p.cn_unit] = after;
                next[j] = out * tw_lstm_29a07aee_f2(after);
            }
            for (int32_t j = 0; j < p.hidden; ++j) {
                h[j * p.hn_unit] = next[j];
                y[(at * p.y_step) + (b * p.y_batch) + (j * p.y_unit)] = next[j];
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: LSTMSteps
 *   nodes    lstmsteps_0
 *   kernel   portable.lstm_f32
 *   G        f32[7,11,20]  ram [2000, 8160)  lstmsteps_0_in0
 *   R        f32[20,5]     flash [16, 416)   lstmsteps_0.R
 *   HN       f32[11,5]     ram [20, 240)     lstmsteps_0_out0
 *   CN       f32[11,5]     ram [240, 460)    lstmsteps_0_out1
 *   Y        f32[7,11,5]   ram [460, 2000)   lstmsteps_0_out2
 *   scratch  u8[20]        ram [0, 20)
 */
TW_STEP void net_0_lstmsteps(const uint8_t *flash, uint8_t *ram)
{
    const float *const g = (const float *)(ram + IN_LSTMSTEPS_0_IN0);
    const float *const r = (const float *)(flash + LSTMSTEPS_0_R);
    float *const hn = (float *)(ram + LSTMSTEPS_0_OUT);
    float *const cn = (float *)(ram + LSTMSTEPS_0_OUT_CN);
    float *const y = (float *)(ram + LSTMSTEPS_0_OUT_Y);
    uint8_t *const scratch = ram + LSTMSTEPS_0_SCRATCH;
    tw_lstm_29a07aee((tw_lstm_29a07aee_shape){
        .steps = 7, .batches = 11, .hidden = 5, .reverse = 0, .g_step = 220, .g_batch = 20, .g_unit = 1, .r_row = 5,
        .r_unit = 1, .hn_batch = 5, .hn_unit = 1, .cn_batch = 5, .cn_unit = 1, .y_step = 55, .y_batch = 5, .y_unit = 1,
    }, g, r, hn, cn, y, scratch);
}
