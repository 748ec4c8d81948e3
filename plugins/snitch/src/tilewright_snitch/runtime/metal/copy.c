/* Copies of tw_rt: the engine of the core that moves data, by its own instructions.
 *
 * The engine's status 0 counts the transfers that are over. Those to TCDM are over in the order in which they were started,
 * and so are those out of it, but as GVSoC models it some out of TCDM may overtake others to it: so many are over of one
 * direction as are over of all, less those that were started of the other. What was once known to be over is kept.
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

static inline void start_row(uint32_t bytes)
{
    uint32_t number;
    __asm__ volatile(".insn r 0x2b, 0, 2, %0, %1, x0" : "=r"(number) : "r"(bytes) : "memory"); /* dmcpyi */
    (void)number;
}

static inline void start_rows(uint32_t bytes, uint32_t rows, uint32_t source_stride, uint32_t target_stride)
{
    uint32_t number;
    __asm__ volatile(".insn r 0x2b, 0, 6, x0, %1, %2\n\t" /* dmstr */
                     ".insn r 0x2b, 0, 7, x0, %3, x0\n\t" /* dmrep */
                     ".insn r 0x2b, 0, 2, %0, %4, x2"     /* dmcpyi, rows */
                     : "=&r"(number)
                     : "r"(source_stride), "r"(target_stride), "r"(rows), "r"(bytes)
                     : "memory");
    (void)number;
}

static inline uint32_t count_over(void)
{
    uint32_t count;
    __asm__ volatile(".insn r 0x2b, 0, 4, %0, x0, x0" : "=r"(count)::"memory"); /* dmstati, 0 */
    return count;
}

/* What the core that moves data knows of transfers out of TCDM, and to it. It is above that core's stack: every access to
 * the main memory would take a hundred cycles. */
typedef struct {
    uint32_t before; /* the engine's count before the first transfer */
    uint32_t started[2], over[2];
} transfers;
_Static_assert(sizeof(transfers) <= TW_ABOVE_STACK, "start.S leaves less");

static inline transfers *known(void)
{
    uint8_t *stack;
    __asm__("mv %0, tp" : "=r"(stack));
    return (transfers *)(void *)(stack + TW_STACK_BYTES - TW_ABOVE_STACK);
}

static void look(transfers *all)
{
    const uint32_t count = count_over() - all->before;
    for (int way = 0; way < 2; ++way) {
        const uint32_t least = count - all->started[1 - way];
        if ((int32_t)(least - all->over[way]) > 0) {
            all->over[way] = least;
        }
    }
}

static void begin(transfers *all)
{
    if (all->started[0] == 0u && all->started[1] == 0u) {
        all->before = count_over();
    }
    look(all);
    ORDER_COPIES();
}

/* The number of a transfer is that among those of its way, and the way in bit 0. One of nothing has none: 0. */
uint32_t tw_rt_copy(void *dst, const void *src, uint32_t bytes, uint32_t rows, uint32_t dst_stride, uint32_t src_stride)
{
    const uint32_t way = (uint32_t)(uintptr_t)dst < TW_FAR_BASE;
    transfers *const all = known();
    begin(all);
    if (bytes == 0u || rows == 0u) {
        return 0u;
    }
    between(src, dst);
    if (rows == 1u || (dst_stride == bytes && src_stride == bytes)) {
        start_row(bytes * rows);
    } else {
        start_rows(bytes, rows, src_stride, dst_stride);
    }
    return ++all->started[way] << 1 | way;
}

void tw_rt_wait(uint32_t transfer)
{
    const uint32_t way = transfer & 1u, number = transfer & ~1u;
    transfers *const all = known();
    while (transfer && (int32_t)((all->over[way] << 1) - number) < 0) {
        look(all);
    }
    ORDER_COPIES();
}
