<%doc> Needs function, one (name of a block). </%doc>\
#include "fpu_rows.h"
#include <math.h>
#include <stdbool.h>

/* What a part of a row adds to sums that are in `acc` from one part to the next; limits are those of the last part. */
TW_KERNEL void ${function}(const tw_fpu_row p, const float *x, const float *w, const float *bias, float *y, float *acc,
                           bool first, bool last)
{
    tw_fpu_row part = p;
    part.low = last ? p.low : -INFINITY;
    part.high = last ? p.high : INFINITY;
    tw_fpu_row_of_fours(${one}, part, x, w, first ? bias : acc, last ? y : acc);
}
