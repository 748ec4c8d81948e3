/* Words to the host, and the end of the program, by semihosting. */
#include "metal.h"

enum { SYS_WRITE0 = 0x04, SYS_EXIT = 0x18, EXIT_FINE = 0x20026, EXIT_ERROR = 0x20023 };

static void ask_host(uint32_t operation, uint32_t argument)
{
    register uint32_t a0 __asm__("a0") = operation;
    register uint32_t a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n\t.option norvc\n\t.balign 16\n\t"
                     "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
}

void tw_say(const char *text)
{
    ask_host(SYS_WRITE0, (uint32_t)(uintptr_t)text);
}

void tw_say_number(uint32_t number)
{
    char text[12];
    char *digit = text + sizeof text - 1;
    *digit = '\0';
    do {
        *--digit = (char)('0' + number % 10u);
        number /= 10u;
    } while (number);
    tw_say(digit);
}

void tw_say_bytes(const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    static char text[65]; /* stacks are small */
    const uint8_t *next = (const uint8_t *)bytes;
    while (size) {
        size_t used = 0;
        while (size && used < sizeof text - 1) {
            text[used++] = digits[*next >> 4];
            text[used++] = digits[*next++ & 15];
            --size;
        }
        text[used] = '\0';
        tw_say(text);
    }
}

void tw_exit(int status)
{
    if (status == TW_STACK_OVERFLOW) {
        tw_say("a core's stack was too small: compile with a larger --set stack=BYTES\n");
    }
    ask_host(SYS_EXIT, status ? EXIT_ERROR : EXIT_FINE);
    for (;;) {
    }
}
