/* What a layer has beside its windows where a part of its products is computed at a time. */
#ifndef TW_XP_PARTS
#define TW_XP_PARTS
typedef struct {
    int32_t first, last; /* whether this is the first part, the last part */
    int32_t w_tap, w_block; /* bytes from tap to tap of the weights, and from four channels to the next four */
    int32_t acc_batch, acc_row, acc_column; /* elements between neighbours */
} tw_xp_part;

/* The sums of four channels of `pixels` pixels, 1 or 2, or of the first `count` of them, as they were kept. */
TW_KERNEL void tw_xp_resume(int32_t pixels, int32_t count, const int32_t *kept0, const int32_t *kept1, int32_t *acc)
{
% for j in range(4):
    acc[${j}] = ${f"count > {j} ? kept0[{j}] : 0" if j else "kept0[0]"};
% endfor
    if (pixels == 2) {
% for j in range(4):
        acc[${4 + j}] = ${f"count > {j} ? kept1[{j}] : 0" if j else "kept1[0]"};
% endfor
    }
}

/* Keeps them for the next part. */
TW_KERNEL void tw_xp_keep(int32_t pixels, int32_t count, const int32_t *acc, int32_t *kept0, int32_t *kept1)
{
% for pixel in range(2):
% if pixel:
    if (pixels == 1) {
        return;
    }
% endif
    kept${pixel}[0] = acc[${4 * pixel}];
% for j in range(1, 4):
    if (count > ${j}) {
        kept${pixel}[${j}] = acc[${4 * pixel + j}];
    }
% endfor
% endfor
}
#endif
