/* The functions of string.h that compilers and generated code call. Words where both addresses allow it. */
#include <stddef.h>
#include <stdint.h>

#include <string.h>

/* A word that may lie over bytes of any type. */
typedef uint32_t __attribute__((may_alias)) word;

/* Whole words to `to`, which is aligned, out of words whose bytes lie `offset` (1 to 3) behind: no byte of L2 takes
 * longer to reach than a word. Reads no word that has no byte of the source. Returns the bytes that it copied. */
static size_t shifted(uint8_t *to, const uint8_t *from, size_t bytes, uint32_t offset)
{
    const word *next = (const word *)(const void *)(from - offset);
    const uint32_t low = 8u * offset, high = 32u - low;
    word *target = (word *)(void *)to;
    word had = *next++;
    size_t left = bytes;
    for (; left >= sizeof(word); left -= sizeof(word)) {
        const word has = *next++;
        *target++ = had >> low | has << high;
        had = has;
    }
    return bytes - left;
}

void *memcpy(void *restrict target, const void *restrict source, size_t bytes)
{
    uint8_t *to = (uint8_t *)target;
    const uint8_t *from = (const uint8_t *)source;
    for (; bytes && (uintptr_t)to % sizeof(word); --bytes) {
        *to++ = *from++;
    }
    if (bytes >= sizeof(word)) {
        const uint32_t offset = (uint32_t)((uintptr_t)from % sizeof(word));
        size_t done = 0;
        if (offset) {
            done = shifted(to, from, bytes, offset);
        } else {
            for (; bytes - done >= sizeof(word); done += sizeof(word)) {
                *(word *)(void *)(to + done) = *(const word *)(const void *)(from + done);
            }
        }
        to += done;
        from += done;
        bytes -= done;
    }
    while (bytes--) {
        *to++ = *from++;
    }
    return target;
}

void *memmove(void *target, const void *source, size_t bytes)
{
    uint8_t *to = (uint8_t *)target;
    const uint8_t *from = (const uint8_t *)source;
    if ((uintptr_t)to - (uintptr_t)from >= bytes) {
        while (bytes--) {
            *to++ = *from++;
        }
        return target;
    }
    while (bytes--) {
        to[bytes] = from[bytes];
    }
    return target;
}

void *memset(void *target, int value, size_t bytes)
{
    uint8_t *to = (uint8_t *)target;
    const word four = (uint8_t)value * 0x01010101u;
    for (; bytes && (uintptr_t)to % sizeof(word); --bytes) {
        *to++ = (uint8_t)value;
    }
    for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
        *(word *)(void *)to = four;
        to += sizeof(word);
    }
    while (bytes--) {
        *to++ = (uint8_t)value;
    }
    return target;
}

int memcmp(const void *one, const void *other, size_t bytes)
{
    const uint8_t *left = (const uint8_t *)one, *right = (const uint8_t *)other;
    for (; bytes; --bytes, ++left, ++right) {
        if (*left != *right) {
            return *left < *right ? -1 : 1;
        }
    }
    return 0;
}
