/* Control and status registers, and the harts' software interrupts, of QEMU's board `virt`. */
#ifndef TW_CSR_H
#define TW_CSR_H

#include <stdint.h>

#define CSR_READ(name) \
    __extension__({ \
        uint32_t csr_; \
        __asm__ volatile("csrr %0, " #name : "=r"(csr_)::"memory"); \
        csr_; \
    })
#define CSR_WRITE(name, value) __asm__ volatile("csrw " #name ", %0" ::"r"((uint32_t)(value)) : "memory")

enum { CLINT = 0x02000000, CLINT_BYTES = 0x10000 };
#define SOFTWARE_INTERRUPT(hart) (((volatile uint32_t *)CLINT)[hart])

static inline uint32_t csr_hart(void)
{
    return CSR_READ(mhartid);
}

#endif
