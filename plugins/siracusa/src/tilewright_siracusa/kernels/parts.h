#pragma once
#include "prelude.h"
#include <stdint.h>

/* What a layer has beside its windows where a part of its products is computed at a time. */
typedef struct {
    /* whether this is the first part, the last part */
    int32_t first;
    int32_t last;
    /* bytes from tap to tap of the weights, and from four channels to the next four */
    int32_t w_tap;
    int32_t w_block;
    /* elements between neighbours */
    int32_t acc_batch;
    int32_t acc_row;
    int32_t acc_column;
} tw_xp_part;

/* The sums of four channels of `pixels` pixels, 1 or 2, or of the first `count` of them, as they were kept. */
TW_KERNEL void tw_xp_resume(int32_t pixels, int32_t count, const int32_t *kept0, const int32_t *kept1, int32_t *acc)
{
    acc[0] = kept0[0];
    acc[1] = (count > 1) ? kept0[1] : 0;
    acc[2] = (count > 2) ? kept0[2] : 0;
    acc[3] = (count > 3) ? kept0[3] : 0;
    if (pixels == 2) {
        acc[4] = kept1[0];
        acc[5] = (count > 1) ? kept1[1] : 0;
        acc[6] = (count > 2) ? kept1[2] : 0;
        acc[7] = (count > 3) ? kept1[3] : 0;
    }
}

/* Keeps them for the next part. */
TW_KERNEL void tw_xp_keep(int32_t pixels, int32_t count, const int32_t *acc, int32_t *kept0, int32_t *kept1)
{
    kept0[0] = acc[0];
    if (count > 1) {
        kept0[1] = acc[1];
    }
    if (count > 2) {
        kept0[2] = acc[2];
    }
    if (count > 3) {
        kept0[3] = acc[3];
    }
    if (pixels == 1) {
        return;
    }
    kept1[0] = acc[4];
    if (count > 1) {
        kept1[1] = acc[5];
    }
    if (count > 2) {
        kept1[2] = acc[6];
    }
    if (count > 3) {
        kept1[3] = acc[7];
    }
}
