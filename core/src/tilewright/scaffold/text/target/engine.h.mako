#include "prelude.h"

/* What the engine is told. */
typedef struct {
    const int8_t *a;       /* [rows, depth], a_pitch from row to row */
    const int8_t *b;       /* [columns, depth] */
    const int64_t *table;  /* [columns, 4]: bias, multiplier, addend, shift */
    int8_t *y;             /* [rows, columns], y_pitch from row to row */
    int32_t rows, columns, depth, a_pitch, y_pitch;
    int32_t zero_point, low, high;
} ${module}_job;

TW_KERNEL void ${module}_start(const ${module}_job *job)
{
#ifdef ${macro}_HARDWARE
#  error "write the fields of the job into the registers of the engine, and start it"
#else
    /* The same in C, for this machine, the twin and tests: it must give every bit that the engine gives. */
    for (int32_t m = 0; m < job->rows; ++m) {
        for (int32_t n = 0; n < job->columns; ++n) {
            const int64_t *const entry = job->table + 4 * n;
            int64_t sum = entry[0];
            for (int32_t k = 0; k < job->depth; ++k) {
                sum += (int64_t)job->a[m * job->a_pitch + k] * job->b[n * job->depth + k];
            }
            sum = (sum * entry[1] + entry[2]) >> entry[3];
            sum += job->zero_point;
            sum = sum < job->low ? job->low : (sum > job->high ? job->high : sum);
            job->y[m * job->y_pitch + n] = (int8_t)sum;
        }
    }
#endif
}

TW_KERNEL void ${module}_wait(void)
{
#ifdef ${macro}_HARDWARE
#  error "return when the engine has finished"
#endif
}
