/* C = A * B in tiles of rows: B is resident, A and C are double buffered. As generated code would do it. */
#include "tw_rt.h"
#include "twin.h"

#include <stdio.h>
#include <string.h>

enum { M = 40, K = 24, N = 16, ROWS = 8, TILES = M / ROWS, QUEUES = 1 };

static twin_arena arenas[] = {
    {"l2", 0u, M * K + N * K + M * N * 4, 0x1c000000u, 0, NULL, 0u, NULL},
    {"l1", 1u, N * K + 2 * ROWS * K + 2 * ROWS * N * 4, 0x10000000u, 0, NULL, 0u, NULL},
    {"flash", 2u, 64u, 0x20000000u, 1, NULL, 0u, NULL},
};
static const twin_tile tiles[] = {{1u, 0u, N * K + 2 * ROWS * K + 2 * ROWS * N * 4}};
static const twin_path paths[] = {
    {"l2 -> l1", 0u, 1u, 0u, 4096u, 4u, 2u, 4u, QUEUES},
    {"l1 -> l2", 1u, 0u, 0u, 4096u, 4u, 2u, 4u, QUEUES},
};
static const char *const memories[] = {"l2", "l1", "flash"};
static const char *const steps[] = {"product"};
static const uint32_t queues[] = {1u};
static const twin_machine machine = {arenas, 3u, tiles, 1u, memories, 3u, paths, 2u, 1u, queues, 1u, steps, 1u, 8u, 0};

static void product(const int8_t *a, const int8_t *b, int32_t *c)
{
    uint32_t core = tw_rt_core();
    uint32_t each = (ROWS + tw_rt_cores() - 1u) / tw_rt_cores();
    for (uint32_t i = core * each; i < (core + 1u) * each && i < ROWS; ++i) {
        for (uint32_t j = 0; j < N; ++j) {
            int32_t sum = 0;
            for (uint32_t k = 0; k < K; ++k) {
                sum += a[i * K + k] * b[j * K + k];
            }
            c[i * N + j] = sum;
        }
    }
    tw_rt_charge(each * N * K);
}

static int run(void)
{
    uint8_t *l2 = arenas[0].base;
    uint8_t *l1 = arenas[1].base;
    const int8_t *a = (const int8_t *)l2;
    const int8_t *b = (const int8_t *)l2 + M * K;
    int32_t *c = (int32_t *)(void *)(l2 + M * K + N * K);
    int8_t *b_tile = (int8_t *)l1;
    int8_t *a_tile[2];
    int32_t *c_tile[2];
    uint32_t a_coming[2] = {0u, 0u};
    uint32_t c_leaving[2] = {0u, 0u};
    uint32_t b_coming = 0u;
    a_tile[0] = b_tile + N * K;
    a_tile[1] = a_tile[0] + ROWS * K;
    c_tile[0] = (int32_t *)(void *)(a_tile[1] + ROWS * K);
    c_tile[1] = c_tile[0] + ROWS * N;
    twin_step(0u, 0);
    if (tw_rt_is_dma_core()) {
        tw_rt_live(b_tile, N * K);
        for (int i = 0; i < 2; ++i) {
            tw_rt_live(a_tile[i], ROWS * K);
            tw_rt_live(c_tile[i], ROWS * N * 4);
        }
        b_coming = tw_rt_copy(b_tile, b, N * K, 1u, 0u, 0u);
        a_coming[0] = tw_rt_copy(a_tile[0], a, K, ROWS, K, K);
        tw_rt_wait(b_coming);
    }
    for (int t = 0; t < TILES; ++t) {
        int here = t & 1;
        if (tw_rt_is_dma_core()) {
            tw_rt_wait(a_coming[here]);
            if (t + 1 < TILES) {
                a_coming[1 - here] = tw_rt_copy(a_tile[1 - here], a + (t + 1) * ROWS * K, K, ROWS, K, K);
            }
            if (t >= 2) {
                tw_rt_wait(c_leaving[here]);
            }
        }
        tw_rt_barrier(); /* before */
        product(a_tile[here], b_tile, c_tile[here]);
        tw_rt_barrier(); /* after */
        if (tw_rt_is_dma_core()) {
            c_leaving[here] = tw_rt_copy(c + t * ROWS * N, c_tile[here], ROWS * N * 4, 1u, 0u, 0u);
        }
    }
    if (tw_rt_is_dma_core()) {
        tw_rt_wait(c_leaving[TILES & 1]);
        tw_rt_wait(c_leaving[(TILES - 1) & 1]);
        tw_rt_dead(b_tile, N * K);
        for (int i = 0; i < 2; ++i) {
            tw_rt_dead(a_tile[i], ROWS * K);
            tw_rt_dead(c_tile[i], ROWS * N * 4);
        }
        /* released */
    }
    tw_rt_barrier();
    twin_step(0u, 1);
    return 0;
}

int main(int argc, char **argv)
{
    FILE *file;
    twin_boot(&machine, argc, argv);
    twin_protect();
    twin_begin();
    for (int i = 0; i < M * K + N * K; ++i) {
        arenas[0].base[i] = (uint8_t)(i * 7 + (i >> 6));
    }
    twin_team(run);
    twin_end();
    twin_report();
    file = fopen("outputs.bin", "wb");
    fwrite(arenas[0].base + M * K + N * K, 1u, M * N * 4, file);
    fclose(file);
    return 0;
}
