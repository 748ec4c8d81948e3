<%doc> Needs widen ("i8" or "u8"). </%doc>\
#include "dsp.h"
#include "matmul.h"

/* Row `row` of A widened, and what its zero point in B takes from every sum. `bytes` has room for the row. */
static int32_t tw_dsp_row_${widen}(const tw_arm_matmul *p, const uint8_t *a, int32_t row, uint32_t *to, int32_t apart,
        uint8_t *bytes)
{
    const uint8_t *x = a + (row * p->a_row);
    int32_t sum = 0;
    if (p->a_step != 1) {
        for (int32_t k = 0; k < p->depth; ++k) {
            bytes[k] = x[k * p->a_step];
        }
        x = bytes;
    }
    const uint32_t *const end = tw_dsp_widen_${widen}(x, p->depth, to, apart);
    if (p->b_zero != 0) {
        for (; to != end; to += apart) {
            sum = tw_dsp_mlad(to[0], UINT32_C(0x00010001), sum);
            sum = tw_dsp_mlad(to[1], UINT32_C(0x00010001), sum);
        }
    }
    return -p->b_zero * sum;
}
