/* What startup.c offers the program: files of the host by semihosting, the stack's high-water mark, an exit status. */
#ifndef TW_BOARD_H
#define TW_BOARD_H

#include <stddef.h>
#include <stdint.h>

int board_open(const char *name, int write); /* a handle; ends the program when there is no such file */
void board_read(int file, void *target, size_t bytes);
void board_write(int file, const void *source, size_t bytes);
void board_close(int file);
void board_say(const char *text);
void board_exit(int status) __attribute__((noreturn));
void board_fail(const char *what, const char *name) __attribute__((noreturn));

/* The stack grows down from the caller's stack pointer; everything below is painted, and read again afterwards. Both are
 * part of the calling function, so that nothing lies between its frame and the paint. */
enum { BOARD_PAINT = 0x5AFE57AC };
extern uint32_t board_stack_bottom[];

static inline __attribute__((always_inline)) uintptr_t board_paint_stack(void)
{
    uintptr_t pointer;
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
    for (volatile uint32_t *word = board_stack_bottom; (uintptr_t)word < pointer; ++word) {
        *word = BOARD_PAINT;
    }
    return pointer;
}

/* The lowest address below `pointer` that was written since. */
static inline __attribute__((always_inline)) uintptr_t board_stack_reached(uintptr_t pointer)
{
    const volatile uint32_t *word = board_stack_bottom;
    while ((uintptr_t)word < pointer && *word == BOARD_PAINT) {
        ++word;
    }
    return (uintptr_t)word;
}

#endif
