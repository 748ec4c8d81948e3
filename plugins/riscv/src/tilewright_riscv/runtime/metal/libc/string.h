/* What generated code asks of a C library; memory.c has it. */
#ifndef TW_STRING_H
#define TW_STRING_H

#include <stddef.h>

void *memcpy(void *restrict target, const void *restrict source, size_t bytes);
void *memmove(void *target, const void *source, size_t bytes);
void *memset(void *target, int value, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);

#endif
