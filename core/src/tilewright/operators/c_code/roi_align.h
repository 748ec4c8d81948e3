#pragma once
#include "functions/tw_ceilf.h"
#include "prelude.h"
#include <math.h>
#include <stdint.h>

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
