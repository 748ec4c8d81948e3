/* tw_rt over the PULP SDK (PMSIS): teams, the cluster's copy engine, copies of the external RAM.
 *
 * The SDK counts a command's bytes in 16 bits, so a transfer may be several commands. Each command takes one of the
 * engine's counters from its start to its wait: when none is left, the oldest command is waited for ahead of its time.
 */
#include "tw_rt_pmsis.h"
#include "tw_rt.h"

#include "bsp/ram.h"

#include <string.h>

enum { COMMANDS = 16, MOST_BYTES = 0xFFF0, RAM_COMMANDS = 4 };

typedef struct {
    uint32_t transfer; /* that it belongs to; 0 is free */
    pi_cl_dma_cmd_t command;
} near_command;

typedef struct {
    uint32_t transfer;
    pi_cl_ram_req_t request;
} far_command;

typedef struct {
    uint32_t loc, ext;
    uint32_t loc_stride, ext_stride;
    pi_cl_dma_dir_e direction;
} ends;

static near_command near_commands[COMMANDS];
static far_command far_commands[RAM_COMMANDS];
static uint32_t next_near, next_far, last_transfer;
static struct pi_device *external_ram;
static int (*work_of_team)(void);
static volatile int status_of_team;

/* ---- the team ---- */

uint32_t tw_rt_core(void)
{
    return (uint32_t)pi_core_id();
}

uint32_t tw_rt_cores(void)
{
    return TW_PMSIS_CORES;
}

int tw_rt_is_dma_core(void)
{
    return pi_core_id() == 0;
}

void tw_rt_barrier(void)
{
    pi_cl_team_barrier();
}

void tw_rt_live(void *bytes, uint32_t size)
{
    (void)bytes;
    (void)size;
}

void tw_rt_dead(void *bytes, uint32_t size)
{
    (void)bytes;
    (void)size;
}

void tw_rt_charge(uint32_t cycles)
{
    (void)cycles;
}

static void on_core(void *nothing)
{
    const int status = work_of_team();
    (void)nothing;
    if (status) {
        status_of_team = status;
    }
}

static void on_cluster(void *nothing)
{
    pi_cl_team_fork(TW_PMSIS_CORES, on_core, nothing);
}

int tw_pmsis_run(struct pi_device *cluster, int (*work)(void))
{
    struct pi_cluster_task task;
    int status;
    memset(&task, 0, sizeof task);
    work_of_team = work;
    status_of_team = 0;
    pi_cluster_task(&task, on_cluster, NULL);
    task.stack_size = TW_PMSIS_STACK_BYTES;
    task.slave_stack_size = TW_PMSIS_STACK_BYTES;
    status = pi_cluster_send_task_to_cl(cluster, &task);
    return status ? status : status_of_team;
}

void tw_pmsis_set_ram(struct pi_device *ram)
{
    external_ram = ram;
}

/* ---- between L1 and L2 ---- */

static void finish_near(near_command *one)
{
    if (one->transfer) {
        pi_cl_dma_cmd_wait(&one->command);
        one->transfer = 0u;
    }
}

/* The command that was started longest ago, free again. */
static pi_cl_dma_cmd_t *take_near(uint32_t transfer)
{
    near_command *const one = &near_commands[next_near];
    next_near = (next_near + 1u) % COMMANDS;
    finish_near(one);
    one->transfer = transfer;
    return &one->command;
}

static void dense(const ends *one, uint32_t loc, uint32_t ext, uint32_t bytes, uint32_t transfer)
{
    while (bytes) {
        const uint32_t part = bytes < MOST_BYTES ? bytes : MOST_BYTES;
        pi_cl_dma_cmd(one->ext + ext, one->loc + loc, part, one->direction, take_near(transfer));
        loc += part;
        ext += part;
        bytes -= part;
    }
}

static void gathered(const ends *one, uint32_t bytes, uint32_t rows, uint32_t transfer)
{
    const uint32_t most = MOST_BYTES / bytes;
    for (uint32_t row = 0; row < rows; row += most) {
        const uint32_t part = rows - row < most ? rows - row : most;
        pi_cl_dma_cmd_2d(one->ext + row * one->ext_stride, one->loc + row * bytes, part * bytes, one->ext_stride, bytes,
                         one->direction, take_near(transfer));
    }
}

static void near_copy(const ends *one, uint32_t bytes, uint32_t rows, uint32_t transfer)
{
    if (rows == 1u || (one->loc_stride == bytes && one->ext_stride == bytes)) {
        dense(one, 0u, 0u, rows * bytes, transfer);
    } else if (one->loc_stride == bytes && bytes <= MOST_BYTES && one->ext_stride <= MOST_BYTES) {
        gathered(one, bytes, rows, transfer);
    } else {
        for (uint32_t row = 0; row < rows; ++row) {
            dense(one, row * one->loc_stride, row * one->ext_stride, bytes, transfer);
        }
    }
}

/* ---- between L2 and the external RAM ---- */

static void finish_far(far_command *one)
{
    if (one->transfer) {
        pi_cl_ram_copy_wait(&one->request);
        one->transfer = 0u;
    }
}

static pi_cl_ram_req_t *take_far(uint32_t transfer)
{
    far_command *const one = &far_commands[next_far];
    next_far = (next_far + 1u) % RAM_COMMANDS;
    finish_far(one);
    one->transfer = transfer;
    return &one->request;
}

static void far_copy(uint8_t *here, uint32_t there, uint32_t bytes, uint32_t rows, uint32_t here_stride,
                     uint32_t there_stride, int load, uint32_t transfer)
{
    if (rows == 1u || (here_stride == bytes && there_stride == bytes)) {
        pi_cl_ram_copy(external_ram, there, here, rows * bytes, load, take_far(transfer));
    } else if (here_stride == bytes) {
        pi_cl_ram_copy_2d(external_ram, there, here, rows * bytes, there_stride, bytes, load, take_far(transfer));
    } else {
        for (uint32_t row = 0; row < rows; ++row) {
            pi_cl_ram_copy(external_ram, there + row * there_stride, here + row * here_stride, bytes, load,
                           take_far(transfer));
        }
    }
}

/* ---- tw_rt ---- */

static int inside(const void *address, uint32_t base, uint32_t bytes)
{
    return (uintptr_t)address - base < bytes;
}

static uint32_t low_bits(const void *address)
{
    return (uint32_t)(uintptr_t)address;
}

uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    const int in = inside(dst, TW_PMSIS_L1_BASE, TW_PMSIS_L1_BYTES);
    const int out = inside(src, TW_PMSIS_L1_BASE, TW_PMSIS_L1_BYTES);
    last_transfer = last_transfer + 1u == 0u ? 1u : last_transfer + 1u;
    if (inside(dst, TW_PMSIS_RAM_BASE, TW_PMSIS_RAM_BYTES)) {
        far_copy((uint8_t *)(uintptr_t)src, low_bits(dst) - TW_PMSIS_RAM_BASE, bytes, rows, src_stride, dst_stride, 0,
                 last_transfer);
    } else if (inside(src, TW_PMSIS_RAM_BASE, TW_PMSIS_RAM_BYTES)) {
        far_copy((uint8_t *)dst, low_bits(src) - TW_PMSIS_RAM_BASE, bytes, rows, dst_stride, src_stride, 1,
                 last_transfer);
    } else if (in && !out) {
        const ends one = {low_bits(dst), low_bits(src), dst_stride, src_stride, PI_CL_DMA_DIR_EXT2LOC};
        near_copy(&one, bytes, rows, last_transfer);
    } else if (out && !in) {
        const ends one = {low_bits(src), low_bits(dst), src_stride, dst_stride, PI_CL_DMA_DIR_LOC2EXT};
        near_copy(&one, bytes, rows, last_transfer);
    } else {
        for (uint32_t row = 0; row < rows; ++row) { /* within one memory: no engine */
            memcpy((uint8_t *)dst + row * dst_stride, (const uint8_t *)src + row * src_stride, bytes);
        }
    }
    return last_transfer;
}

void tw_rt_wait(uint32_t transfer)
{
    for (uint32_t i = 0; i < COMMANDS && transfer; ++i) {
        if (near_commands[i].transfer == transfer) {
            finish_near(&near_commands[i]);
        }
    }
    for (uint32_t i = 0; i < RAM_COMMANDS && transfer; ++i) {
        if (far_commands[i].transfer == transfer) {
            finish_far(&far_commands[i]);
        }
    }
}
