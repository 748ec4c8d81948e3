/* Copies without unaligned words, which those of the C library for Armv7-M use: linked where such words are made to trap.
 * They are no part of the harness: what a step spends in here is its own. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);

/* The barriers keep compilers from finding memcpy in here. */
void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
        __asm__ volatile("" ::: "memory");
    }
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    if ((uintptr_t)to <= (uintptr_t)from) {
        return memcpy(to, from, count);
    }
    for (size_t i = count; i > 0; --i) {
        ((uint8_t *)to)[i - 1] = ((const uint8_t *)from)[i - 1];
        __asm__ volatile("" ::: "memory");
    }
    return to;
}
