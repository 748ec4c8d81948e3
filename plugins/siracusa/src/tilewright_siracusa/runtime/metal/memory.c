/* The functions of string.h that compilers and generated code call. Words where both addresses allow it. */
#include <stddef.h>
#include <stdint.h>

#include <string.h>

/* A word that may lie over bytes of any type. */
typedef uint32_t __attribute__((may_alias)) word;

void *memcpy(void *restrict target, const void *restrict source, size_t bytes)
{
    uint8_t *to = (uint8_t *)target;
    const uint8_t *from = (const uint8_t *)source;
    if (((uintptr_t)to ^ (uintptr_t)from) % sizeof(word) == 0u) {
        for (; bytes && (uintptr_t)to % sizeof(word); --bytes) {
            *to++ = *from++;
        }
        for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
            *(word *)(void *)to = *(const word *)(const void *)from;
            to += sizeof(word);
            from += sizeof(word);
        }
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
