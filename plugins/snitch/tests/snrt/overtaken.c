/* A copy to TCDM that one out of it overtakes: its bytes are there when it was waited for. */
#include "stub.h"
#include "tw_rt_snrt.h"

static uint8_t near[2][64], far[2][64];

static int job(void)
{
    if (tw_rt_is_dma_core()) {
        const uint32_t in = tw_rt_copy(near[0], far[0], 64u, 1u, 0u, 0u);
        const uint32_t out = tw_rt_copy(far[1], near[1], 64u, 1u, 0u, 0u);
        tw_rt_wait(in);
        if (near[0][63] != 7u) {
            stub_fail("a copy was waited for, and its bytes are not there");
        }
        tw_rt_wait(out);
        if (far[1][63] != 5u) {
            stub_fail("a copy out was waited for, and its bytes are not there");
        }
    }
    return 0;
}

int main(void)
{
    stub_near = (uintptr_t)near;
    stub_near_bytes = sizeof near;
    far[0][63] = 7u;
    near[1][63] = 5u;
    stub_run(job);
    return 0;
}
