#pragma once
#include "dsp.h"
#include "prelude.h"
#include <stdint.h>
#include <string.h>

/* A function that is not to become part of another, whose registers it would have to share. */
#if defined(__GNUC__)
#  define TW_DSP_APART __attribute__((noinline)) static
#else
#  define TW_DSP_APART static
#endif

typedef struct { /* a convolution over a channels-last tensor of 16 bits; a matrix product is one of 1x1 */
    /* of x; channels of one pixel, elements between pixels, and rows */
    int32_t width;
    int32_t height;
    int32_t channels;
    int32_t x_step;
    int32_t x_row;
    /* pixels: of one image of y */
    int32_t out_width;
    int32_t pixels;
    int32_t outputs;
    int32_t y_step;
    int32_t y_row;
    /* kernel rows, runs of x in each, taps in a run */
    int32_t row_taps;
    int32_t column_runs;
    int32_t run_taps;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t column_dilation;
    int32_t top;
    int32_t left;
    int32_t pad; /* value outside */
    int32_t fours; /* of values that one pixel reads, rounded up */
    int32_t zero_point;
} tw_dsp_words;

/* One run: taps outside read the padding value; `row` is null where all are. */
TW_KERNEL void tw_dsp_words_run(const tw_dsp_words *p, const int16_t *row, int32_t column, int16_t *to)
{
    const int32_t before = (column < 0) ? -column : 0;
    const int32_t room = p->width - column;
    const int32_t first = (row && (before < p->run_taps)) ? before : p->run_taps;
    const int32_t end = (room < p->run_taps) ? room : p->run_taps;
    const int32_t last = (end > first) ? end : first;
    for (int32_t i = 0; i < (first * p->channels); ++i) {
        to[i] = (int16_t)p->pad;
    }
    for (int32_t i = first * p->channels; i < (last * p->channels); ++i) {
        to[i] = row[(column * p->channels) + i];
    }
    for (int32_t i = last * p->channels; i < (p->run_taps * p->channels); ++i) {
        to[i] = (int16_t)p->pad;
    }
}

/* Everything that one pixel of y reads, one after the other, and zeros up to a multiple of four. */
TW_KERNEL void tw_dsp_words_column(const tw_dsp_words *p, const int16_t *x, int32_t i, int32_t j, int16_t *to)
{
    const int32_t length = p->run_taps * p->channels;
    const int32_t top = (i * p->row_stride) - p->top;
    const int32_t left = (j * p->column_stride) - p->left;
    int16_t *const end = to + (4 * p->fours);
    for (int32_t k = 0; k < p->row_taps; ++k) {
        const int32_t line = top + (k * p->row_dilation);
        const int32_t outside = (line < 0) || (line >= p->height);
        const int16_t *const row = outside ? (const int16_t *)0 : (x + (line * p->x_row));
        for (int32_t r = 0; r < p->column_runs; ++r) {
            const int32_t column = left + (r * p->column_dilation);
            if (outside || (column < 0) || ((column + p->run_taps) > p->width)) {
                tw_dsp_words_run(p, row, column, to);
            } else {
                memcpy(to, row + (column * p->x_step), (size_t)length * sizeof *to);
            }
            to += length;
        }
    }
    for (; to < end; ++to) {
        *to = 0;
    }
}

/* clamp(rne(v), low, high) */
TW_KERNEL int32_t tw_dsp_words_rounded(float v, int32_t low, int32_t high)
{
#ifdef TW_ROUND_CLAMPED
    return TW_ROUND_CLAMPED(v, low, high);
#else
    const float least = (float)low;
    const float most = (float)high;
    const float inside = (v < least) ? least : ((v > most) ? most : v);
    const union { float value; int32_t bits; } sum = {.value = inside + 12582912.0f};
    return sum.bits - INT32_C(0x4b400000);
#endif
}

/* The formula of floats; `word` has the bits of the scale. */
TW_KERNEL int32_t tw_dsp_words_exact(float sum, int32_t word, int32_t zero_point, int32_t low, int32_t high)
{
    const union { uint32_t bits; float value; } scale = {.bits = (uint32_t)word};
    return tw_dsp_words_rounded(sum * scale.value, low - zero_point, high - zero_point) + zero_point;
}

/* clamp(v >> shift, low, high): one instruction where the limits are those of 16 bits, or those from 0 on. */
TW_KERNEL int32_t tw_dsp_words_narrow(int32_t v, int32_t shift, int32_t low, int32_t high)
{
    const int32_t q = v >> shift;
#ifdef TW_DSP_ARM
    int32_t r;
    if ((low == -32768) && (high == 32767)) {
        __asm__("ssat %0, #16, %1" : "=r"(r) : "r"(q));
        return r;
    }
    if ((low == 0) && (high == 32767)) {
        __asm__("usat %0, #15, %1" : "=r"(r) : "r"(q));
        return r;
    }
#endif
    return (q < low) ? low : ((q > high) ? high : q);
}

/* A multiplier of 16 bits, moved up by 16: its product's upper half is shifted. `above`: the zero point and one
 * half. */
TW_KERNEL int32_t tw_dsp_words_shifted(int32_t sum, const int32_t *words, int32_t low, int32_t high)
{
    return tw_dsp_words_narrow(tw_dsp_mmla(sum, words[0], words[1]), words[2], low, high);
}

/* The same of a sum of 64 bits, where the multiplier is as it is and `words[1]` the zero point. */
TW_KERNEL int32_t tw_dsp_words_shifted_wide(int64_t sum, const int32_t *words, int32_t low, int32_t high)
{
    const int64_t q = (((sum * words[0]) + (INT64_C(1) << (words[2] - 1))) >> words[2]) + words[1];
    return (q < low) ? low : ((q > high) ? high : (int32_t)q);
}
