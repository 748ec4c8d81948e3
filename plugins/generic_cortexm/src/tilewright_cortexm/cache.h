/* Define TW_CACHE_MAINTENANCE where the data cache is on and a DMA fills inputs or sends outputs away; or your own
 * macro. */
#ifndef TW_CACHE_FLUSH
#  ifdef TW_CACHE_MAINTENANCE
TW_KERNEL void tw_cache_flush(const void *start, uint32_t bytes)
{
    const uintptr_t end = (uintptr_t)start + bytes;
    __asm__ volatile("dsb" ::: "memory");
    for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)31; line < end; line += 32u) {
        *(volatile uint32_t *)0xE000EF70u = (uint32_t)line; /* DCCIMVAC: clean and invalidate by address */
    }
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
#    define TW_CACHE_FLUSH(start, bytes) tw_cache_flush((start), (bytes))
#  else
#    define TW_CACHE_FLUSH(start, bytes) ((void)0)
#  endif
#endif
