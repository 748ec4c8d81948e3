#include "functions/tw_between.h"
#include "prelude.h"
#include "requant.h"
#include "requant_tflm.h"
#include <stdint.h>

typedef struct {
    /* elements of one row, and from one to the next */
    int32_t count;
    int32_t x_step;
    int32_t y_step;
    int32_t words[2]; /* multiplier and exponent of differences */
} ${function}_row;

/* A place from 0 to 65535 on the lines between 513. */
TW_KERNEL int32_t ${function}_at(const int16_t *t, int32_t place)
{
    return tw_between(t[place / 128], t[(place / 128) + 1], place % 128);
}

/* The exponential of one element that lies so far below the row's largest, in 15 bits. */
TW_KERNEL int32_t ${function}_entry(const ${function}_row *p, int32_t below, const int16_t *t)
{
    const tw_requant whole = {.zero_point = 65535, .low = 0, .high = 65535};
    return ${function}_at(t, tw_requant_tflm(-(int64_t)below, p->words, whole));
}

/* One row: y = exponential * reciprocal of their sum, both from tables of 513; see arithmetic/wide_softmax. */
TW_KERNEL void ${function}(const ${function}_row p, const ${x_type} *x, const int16_t *t, ${y_type} *y)
{
    int32_t largest = x[0];
    for (int32_t i = 1; i < p.count; ++i) {
        largest = (x[i * p.x_step] > largest) ? x[i * p.x_step] : largest;
    }
    int32_t sum = 0;
    for (int32_t i = 0; i < p.count; ++i) {
        sum += ${function}_entry(&p, largest - x[i * p.x_step], t);
    }
    int32_t shift = 0; /* bits of the sum but one */
    while ((sum >> shift) > 1) {
        ++shift;
    }
    const int64_t place = ((((int64_t)sum << (30 - shift)) + (1 << 13)) >> 14) - 65536;
    const int32_t reciprocal = ${function}_at(t + 513, (place < 0) ? 0 : ((place > 65535) ? 65535 : (int32_t)place));
    for (int32_t i = 0; i < p.count; ++i) {
        const int64_t e = ${function}_entry(&p, largest - x[i * p.x_step], t);
        const int64_t q = ((e * reciprocal) + (INT64_C(1) << (shift - 1))) >> shift;
        y[i * p.y_step] = (${y_type})((q < 0) ? 0 : ((q > 32767) ? 32767 : q));
    }
}
