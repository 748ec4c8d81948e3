#include "traced_rows.h" /* which the network's sources include, too */

static uint32_t traced_set;

/* Values that are held in rows, and how many of these were seen. */
static struct {
    uint32_t step;
    int32_t trips; /* of a value whose rows are there together: of its step; else 0 */
    int32_t seen, stripe;
} traced[] = {
% for one in traced:
    {${one.step}u, ${0 if one.axis is not None else one.extents}, 0, 0},
% endfor
};
enum { TRACED = ${len(traced)} };

void tw_see_rows(uint32_t step, int32_t first, int32_t made, const uint8_t *bytes, int32_t blocks, int32_t capacity,
                 int32_t row_bytes, int32_t stripe)
{
% if untraced:
    if (traced_set < ${untraced}u) {
        return;
    }
% endif
    for (size_t i = 0; i < TRACED; ++i) {
        if (traced[i].step == step && traced[i].stripe != stripe) { /* begins anew */
            traced[i].seen = 0;
            traced[i].stripe = stripe;
        }
        const int32_t end = traced[i].trips > 0 ? made / traced[i].trips : made, count = end - traced[i].seen;
        if (traced[i].step == step && count > 0) {
            const uint32_t head[5] = {traced_set${f' - {untraced}u' if untraced else ''}, step, (uint32_t)traced[i].seen, (uint32_t)count, (uint32_t)stripe};
            const uint8_t *const start = bytes + (traced[i].seen - first) * row_bytes;
            keep_rows(head, sizeof head);
            for (int32_t block = 0; block < blocks; ++block) {
                keep_rows(start + block * capacity * row_bytes, (size_t)(count * row_bytes));
            }
            traced[i].seen = end;
        }
    }
}

static void see_no_rows(unsigned set)
{
    traced_set = set;
    for (size_t i = 0; i < TRACED; ++i) {
        traced[i].seen = traced[i].stripe = 0;
    }
}
