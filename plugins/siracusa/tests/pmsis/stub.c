/* The SDK's part on the host: cores are threads, bytes arrive when they are waited for, limits are the machine's. */
#include "stub.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { COUNTERS = 16, CORES = 8, MOST_BYTES = 0xFFFF };

typedef struct {
    int used;
    uint8_t *near;
    uint8_t *far;
    uint32_t size, stride, length;
    int inward;
} pending;

static pending near_pending[COUNTERS], far_pending[COUNTERS];
static uint8_t *ram;
static pthread_barrier_t barrier;
static __thread int core;
static struct {
    void (*entry)(void *);
    void *arg;
} team;
uint32_t stub_most_in_flight, stub_commands;

void stub_fail(const char *what)
{
    fprintf(stderr, "stub: %s\n", what);
    exit(2);
}

void *stub_memory(uintptr_t address, size_t bytes)
{
    void *const wanted = (void *)address;
    void *const found = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (found != wanted) {
        stub_fail("the device's address is taken");
    }
    return found;
}

void stub_ram(size_t bytes)
{
    ram = (uint8_t *)calloc(bytes, 1);
}

uint8_t *stub_ram_bytes(void)
{
    return ram;
}

/* ---- team ---- */

int pi_core_id(void)
{
    return core;
}

static void *thread(void *number)
{
    core = (int)(intptr_t)number;
    team.entry(team.arg);
    return NULL;
}

void pi_cl_team_fork(int nb_cores, void (*entry)(void *), void *arg)
{
    pthread_t threads[CORES];
    if (nb_cores != CORES) {
        stub_fail("another number of cores");
    }
    team.entry = entry;
    team.arg = arg;
    pthread_barrier_init(&barrier, NULL, CORES);
    for (int i = 0; i < CORES; ++i) {
        pthread_create(&threads[i], NULL, thread, (void *)(intptr_t)i);
    }
    for (int i = 0; i < CORES; ++i) {
        pthread_join(threads[i], NULL);
    }
}

void pi_cl_team_barrier(void)
{
    pthread_barrier_wait(&barrier);
}

struct pi_cluster_task *pi_cluster_task(struct pi_cluster_task *task, void (*entry)(void *), void *arg)
{
    task->entry = entry;
    task->arg = arg;
    return task;
}

int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task)
{
    if (device->is_ram || task->stack_size == 0 || task->slave_stack_size == 0) {
        return -1;
    }
    task->entry(task->arg);
    return 0;
}

/* ---- copies ---- */

static int start(pending *all, pending one)
{
    uint32_t flying = 1;
    int number = -1;
    if (core != 0) {
        stub_fail("a core that is not the DMA core starts a copy");
    }
    for (int i = 0; i < COUNTERS; ++i) {
        flying += (uint32_t)all[i].used;
        number = all[i].used ? number : i;
    }
    if (number < 0) {
        stub_fail("no counter is left: the core would wait for ever");
    }
    stub_most_in_flight = flying > stub_most_in_flight ? flying : stub_most_in_flight;
    ++stub_commands;
    one.used = 1;
    all[number] = one;
    return number;
}

static void finish(pending *one)
{
    if (!one->used) {
        stub_fail("waits for a copy that is over");
    }
    for (uint32_t row = 0; row < one->size / one->length; ++row) {
        uint8_t *const near = one->near + row * one->length, *const far = one->far + (size_t)row * one->stride;
        memcpy(one->inward ? near : far, one->inward ? far : near, one->length);
    }
    one->used = 0;
}

static void near_copy(uint32_t ext, uint32_t loc, uint32_t size, uint32_t stride, uint32_t length, pi_cl_dma_dir_e dir,
                      pi_cl_dma_cmd_t *cmd)
{
    const pending one = {1, (uint8_t *)(uintptr_t)loc, (uint8_t *)(uintptr_t)ext, size, stride, length,
                         dir == PI_CL_DMA_DIR_EXT2LOC};
    if (size == 0 || size > MOST_BYTES || stride > MOST_BYTES || length == 0 || size % length) {
        stub_fail("a command's numbers do not fit 16 bits");
    }
    if (loc - STUB_L1 > STUB_L1_BYTES - size || ext - STUB_L2 >= STUB_L2_BYTES) {
        stub_fail("a command leaves its memories");
    }
    cmd->id = start(near_pending, one);
}

void pi_cl_dma_cmd(uint32_t ext, uint32_t loc, uint32_t size, pi_cl_dma_dir_e dir, pi_cl_dma_cmd_t *cmd)
{
    near_copy(ext, loc, size, size, size, dir, cmd);
}

void pi_cl_dma_cmd_2d(uint32_t ext, uint32_t loc, uint32_t size, uint32_t stride, uint32_t length, pi_cl_dma_dir_e dir,
                      pi_cl_dma_cmd_t *cmd)
{
    near_copy(ext, loc, size, stride, length, dir, cmd);
}

void pi_cl_dma_cmd_wait(pi_cl_dma_cmd_t *cmd)
{
    finish(&near_pending[cmd->id]);
}

void pi_cl_ram_copy_2d(struct pi_device *device, uint32_t ram_addr, void *addr, uint32_t size, uint32_t stride,
                       uint32_t length, int ext2loc, pi_cl_ram_req_t *req)
{
    const pending one = {1, (uint8_t *)addr, ram + ram_addr, size, stride, length, ext2loc};
    if (!device->is_ram || size == 0 || length == 0 || size % length || (uintptr_t)addr - STUB_L2 >= STUB_L2_BYTES) {
        stub_fail("a copy of the RAM that cannot be");
    }
    req->id = start(far_pending, one);
}

void pi_cl_ram_copy(struct pi_device *device, uint32_t ram_addr, void *addr, uint32_t size, int ext2loc,
                    pi_cl_ram_req_t *req)
{
    pi_cl_ram_copy_2d(device, ram_addr, addr, size, size, size, ext2loc, req);
}

void pi_cl_ram_copy_wait(pi_cl_ram_req_t *req)
{
    finish(&far_pending[req->id]);
}

void stub_end(void)
{
    for (int i = 0; i < COUNTERS; ++i) {
        if (near_pending[i].used || far_pending[i].used) {
            stub_fail("a copy was never waited for");
        }
    }
}
