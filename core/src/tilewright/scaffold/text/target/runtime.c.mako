/* The machine below a generated program: one core, and a copy engine. On the chip these are registers and interrupts. */
#include "tw_rt.h"

#include <string.h>

uint32_t tw_rt_core(void)
{
    return 0;
}

uint32_t tw_rt_cores(void)
{
    return 1;
}

int tw_rt_is_dma_core(void)
{
    return 1;
}

void tw_rt_barrier(void)
{
}

uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    for (uint32_t row = 0; row < rows; ++row) {
        memcpy((uint8_t *)dst + (size_t)row * dst_stride, (const uint8_t *)src + (size_t)row * src_stride, bytes);
    }
    return 0;
}

void tw_rt_wait(uint32_t transfer)
{
    (void)transfer;
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
