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

/* x without its fraction, towards zero; floats of 2^23 and more have none. */
TW_KERNEL float tw_truncf(float x)
{
    if (!((x > -0x1.0p+23f) && (x < 0x1.0p+23f))) {
        return x;
    }
    const float whole = (float)(int32_t)x;
    return (whole == 0.0f) ? (x * 0.0f) : whole; /* keeps the sign of zero */
}

/* The smallest integer not below x. */
TW_KERNEL float tw_ceilf(float x)
{
    const float whole = tw_truncf(x);
    return (whole < x) ? (whole + 1.0f) : whole;
}

/* Regions of images, each divided into bins in which an image is read at some positions. */
typedef struct { /* of rows or of columns */
    /* elements of the image, bins of a region */
    int32_t size;
    int32_t bins;
    /* bins of the tile */
    int32_t first;
    int32_t outputs;
    /* elements between neighbours */
    int32_t x_step;
    int32_t y_step;
} tw_roi_axis;

typedef struct {
    /* of X, and of the output tile */
    int32_t images;
    int32_t regions;
    int32_t channels;
    /* elements between neighbours */
    int32_t x_image;
    int32_t x_channel;
    int32_t b_region;
    int32_t b_part;
    int32_t i_step;
    int32_t y_region;
    int32_t y_channel;
    int32_t samples; /* along each axis of a bin; 0: one for each element of the image that it spans */
    float scale; /* elements of the image for a unit of a region */
    tw_roi_axis row;
    tw_roi_axis column;
} tw_roi_align;

typedef struct { /* one region along one axis */
    /* in elements of the image */
    float start;
    float bin;
    int32_t samples;
} tw_roi_span;

typedef struct { /* where one sample is along one axis */
    /* elements, in steps of the image; below 0: outside */
    int32_t low;
    int32_t high;
    float above; /* share of the higher one */
} tw_roi_sample;

TW_KERNEL tw_roi_span tw_roi_spanned(const tw_roi_align *s, int32_t bins, float low, float high, float offset)
{
    tw_roi_span span = {.start = (low * s->scale) - offset, .samples = s->samples};
    float extent = (high * s->scale) - offset - span.start;
    if ((offset == 0.0f) && !(extent >= 1.0f)) {
        extent = 1.0f;
    }
    span.bin = extent / (float)bins;
    if ((span.samples == 0) && (span.bin > 0.0f)) {
        span.samples = (span.bin < 4096.0f) ? (int32_t)tw_ceilf(span.bin) : 4096;
    }
    return span;
}

TW_KERNEL tw_roi_sample tw_roi_found(const tw_roi_axis *axis, const tw_roi_span *span, int32_t output, int32_t sample)
{
    const float position = span->start + ((float)(axis->first + output) * span->bin)
        + (((float)sample + 0.5f) * span->bin / (float)span->samples);
    tw_roi_sample found = {.low = -1, .high = -1, .above = 0.0f};
    if (!((position >= -1.0f) && (position <= (float)axis->size))) {
        return found;
    }
    const float inside = (position > 0.0f) ? position : 0.0f;
    const int32_t at = (int32_t)inside;
    if (at >= (axis->size - 1)) {
        found.low = found.high = (axis->size - 1) * axis->x_step;
        return found;
    }
    found.low = at * axis->x_step;
    found.high = found.low + axis->x_step;
    found.above = inside - (float)at;
    return found;
}

/* One sample of every channel, into what the bin has so far. */
TW_KERNEL void tw_roi_align_avg_half_pixel_add(const tw_roi_align *s, tw_roi_sample row, tw_roi_sample column,
        const float *x, float *y, int32_t is_first)
{
    for (int32_t c = 0; c < s->channels; ++c) {
        const float *const xc = x + (c * s->x_channel);
        float *const yc = y + (c * s->y_channel);
        float value = 0.0f;
        if ((row.low >= 0) && (column.low >= 0)) {
            const float a = (1.0f - row.above) * (1.0f - column.above) * xc[row.low + column.low];
            const float b = (1.0f - row.above) * column.above * xc[row.low + column.high];
            const float d = row.above * (1.0f - column.above) * xc[row.high + column.low];
            const float e = row.above * column.above * xc[row.high + column.high];
            value = a + b + d + e;
        }
        *yc = is_first ? value : (*yc + value);
    }
}

/* One bin of one region. */
TW_KERNEL void tw_roi_align_avg_half_pixel_bin(const tw_roi_align *s, const tw_roi_span *rows,
        const tw_roi_span *columns, int32_t i, int32_t j, const float *x, float *y)
{
    if ((rows->samples < 1) || (columns->samples < 1)) {
        for (int32_t c = 0; c < s->channels; ++c) {
            y[c * s->y_channel] = 0.0f;
        }
        return;
    }
    for (int32_t k = 0; k < rows->samples; ++k) {
        const tw_roi_sample row = tw_roi_found(&s->row, rows, i, k);
        for (int32_t l = 0; l < columns->samples; ++l) {
            tw_roi_align_avg_half_pixel_add(s, row, tw_roi_found(&s->column, columns, j, l), x, y, (k + l) == 0);
        }
    }
    for (int32_t c = 0; c < s->channels; ++c) {
        y[c * s->y_channel] /= (float)(rows->samples * columns->samples);
    }
}

TW_KERNEL void tw_roi_align_avg_half_pixel(const tw_roi_align s, const float *x, const float *b, const int64_t *images,
        float *y)
{
    for (int32_t r = 0; r < s.regions; ++r) {
        const int64_t given = images[r * s.i_step];
        const int32_t image = (given < 0) ? 0 : ((given < s.images) ? (int32_t)given : (s.images - 1));
        const float *const region = b + (r * s.b_region);
        const tw_roi_span columns = tw_roi_spanned(&s, s.column.bins, region[0], region[2 * s.b_part], 0.5f);
        const tw_roi_span rows
            = tw_roi_spanned(&s, s.row.bins, region[s.b_part], region[3 * s.b_part], 0.5f);
        for (int32_t i = 0; i < s.row.outputs; ++i) {
            for (int32_t j = 0; j < s.column.outputs; ++j) {
                tw_roi_align_avg_half_pixel_bin(&s, &rows, &columns, i, j, x + (image * s.x_image),
                                y + (r * s.y_region) + (i * s.row.y_step) + (j * s.column.y_step));
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: RoiAlign
 *   nodes    roialign_0
 *   kernel   portable.roi_align_f32
 *   X        f32[2,9,6,8]   ram [0, 3456)      roialign_0_in0
 *   B        f32[11,4]      ram [3456, 3632)   roialign_0_in1
 *   I        i64[11]        ram [3632, 3720)   roialign_0_in2
 *   Y        f32[11,9,5,7]  ram [3720, 17580)  roialign_0_out0
 */
TW_STEP void net_0_roialign(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_ROIALIGN_0_IN0);
    const float *const b = (const float *)(ram + IN_ROIALIGN_0_IN1);
    const int64_t *const i_x = (const int64_t *)(ram + IN_ROIALIGN_0_IN2);
    float *const y = (float *)(ram + ROIALIGN_0_OUT);
    tw_roi_align_avg_half_pixel((tw_roi_align){
        .images = 2, .regions = 11, .channels = 9, .x_image = 432, .x_channel = 48, .b_region = 4, .b_part = 1,
        .i_step = 1, .y_region = 315, .y_channel = 35, .samples = 2, .scale = 0x1.99999a0000000p-1f,
        .row = {.size = 6, .bins = 5, .first = 0, .outputs = 5, .x_step = 8, .y_step = 7},
        .column = {.size = 8, .bins = 7, .first = 0, .outputs = 7, .x_step = 1, .y_step = 1},
    }, x, b, i_x, y);
}
