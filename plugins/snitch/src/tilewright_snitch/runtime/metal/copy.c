/* Copies of tw_rt: the engine of the core that moves data, by its own instructions.
 *
 * The engine takes transfers in turn and numbers them from 2; its status 0 is the number of the last one that is over.
 */
#include "metal.h"
#include "tw_rt.h"

#define ORDER_COPIES() __asm__ volatile("fence" ::: "memory")

static inline void between(const void *source, void *target)
{
    __asm__ volatile(".insn r 0x2b, 0, 0, x0, %0, x0\n\t" /* dmsrc */
                     ".insn r 0x2b, 0, 1, x0, %1, x0"     /* dmdst */
                     :
                     : "r"(source), "r"(target)
                     : "memory");
}

static inline uint32_t start_row(uint32_t bytes)
{
    uint32_t number;
    __asm__ volatile(".insn r 0x2b, 0, 2, %0, %1, x0" : "=r"(number) : "r"(bytes) : "memory"); /* dmcpyi */
    return number;
}

static inline uint32_t start_rows(uint32_t bytes, uint32_t rows, uint32_t source_stride, uint32_t target_stride)
{
    uint32_t number;
    __asm__ volatile(".insn r 0x2b, 0, 6, x0, %1, %2\n\t" /* dmstr */
                     ".insn r 0x2b, 0, 7, x0, %3, x0\n\t" /* dmrep */
                     ".insn r 0x2b, 0, 2, %0, %4, x2"     /* dmcpyi, rows */
                     : "=&r"(number)
                     : "r"(source_stride), "r"(target_stride), "r"(rows), "r"(bytes)
                     : "memory");
    return number;
}

/* A transfer of nothing has no number: 0. */
uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    ORDER_COPIES();
    if (bytes == 0u || rows == 0u) {
        return 0u;
    }
    between(src, dst);
    if (rows == 1u || (dst_stride == bytes && src_stride == bytes)) {
        return start_row(bytes * rows);
    }
    return start_rows(bytes, rows, src_stride, dst_stride);
}

static inline uint32_t last_over(void)
{
    uint32_t number;
    __asm__ volatile(".insn r 0x2b, 0, 4, %0, x0, x0" : "=r"(number)::"memory"); /* dmstati, 0 */
    return number;
}

void tw_rt_wait(uint32_t transfer)
{
    while (transfer && (int32_t)(last_over() - transfer) < 0) {
    }
    ORDER_COPIES();
}
