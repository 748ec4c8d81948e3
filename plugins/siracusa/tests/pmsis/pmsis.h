/* What tw_rt_pmsis.c uses of the PULP SDK, as the SDK declares it, to be compiled and executed on the host. */
#ifndef STUB_PMSIS_H
#define STUB_PMSIS_H

#include <stddef.h>
#include <stdint.h>

struct pi_device {
    int is_ram;
};

struct pi_cluster_task {
    void (*entry)(void *);
    void *arg;
    uint32_t stack_size;
    uint32_t slave_stack_size;
};

typedef enum { PI_CL_DMA_DIR_LOC2EXT = 0, PI_CL_DMA_DIR_EXT2LOC = 1 } pi_cl_dma_dir_e;

typedef struct {
    int id;
} pi_cl_dma_cmd_t;

typedef struct {
    int id;
} pi_cl_ram_req_t;

int pi_core_id(void);
void pi_cl_team_fork(int nb_cores, void (*entry)(void *), void *arg);
void pi_cl_team_barrier(void);
struct pi_cluster_task *pi_cluster_task(struct pi_cluster_task *task, void (*entry)(void *), void *arg);
int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task);

void pi_cl_dma_cmd(uint32_t ext, uint32_t loc, uint32_t size, pi_cl_dma_dir_e dir, pi_cl_dma_cmd_t *cmd);
void pi_cl_dma_cmd_2d(uint32_t ext, uint32_t loc, uint32_t size, uint32_t stride, uint32_t length, pi_cl_dma_dir_e dir,
                      pi_cl_dma_cmd_t *cmd);
void pi_cl_dma_cmd_wait(pi_cl_dma_cmd_t *cmd);

void pi_cl_ram_copy(struct pi_device *device, uint32_t ram_addr, void *addr, uint32_t size, int ext2loc,
                    pi_cl_ram_req_t *req);
void pi_cl_ram_copy_2d(struct pi_device *device, uint32_t ram_addr, void *addr, uint32_t size, uint32_t stride,
                       uint32_t length, int ext2loc, pi_cl_ram_req_t *req);
void pi_cl_ram_copy_wait(pi_cl_ram_req_t *req);

#endif
