/* From reset to main on the boards that QEMU emulates, in C of our own: no vendor's files, no libc start-up. */
#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define CCR REGISTER(0xE000ED14u)
#define CPACR REGISTER(0xE000ED88u)
#define CFSR REGISTER(0xE000ED28u)
#define HFSR REGISTER(0xE000ED2Cu)
#define MMFAR REGISTER(0xE000ED34u)
#define BFAR REGISTER(0xE000ED38u)
#define MPU_CTRL REGISTER(0xE000ED94u)
#define MPU_RBAR REGISTER(0xE000ED9Cu)
#define MPU_RASR REGISTER(0xE000EDA0u)

extern uint32_t board_data_load[], board_data_start[], board_data_end[], board_bss_start[], board_bss_end[];
extern uint32_t board_guard[], board_stack_top[];

int main(void);
void board_reset(void) __attribute__((noreturn));

/* ---- semihosting ---- */

enum { SYS_OPEN = 0x01, SYS_CLOSE = 0x02, SYS_WRITE0 = 0x04, SYS_WRITE = 0x05, SYS_READ = 0x06, SYS_EXIT = 0x20 };
enum { MODE_READ = 1, MODE_WRITE = 5, APPLICATION_EXIT = 0x20026 };

static int32_t ask_host(uint32_t operation, const void *block)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory", "cc");
    return (int32_t)r0;
}

static size_t length(const char *text)
{
    size_t count = 0;
    while (text[count] != '\0') {
        ++count;
    }
    return count;
}

void board_say(const char *text)
{
    ask_host(SYS_WRITE0, text);
}

void board_exit(int status)
{
    const uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)status};
    ask_host(SYS_EXIT, block);
    for (;;) {
    }
}

void board_fail(const char *what, const char *name)
{
    board_say(what);
    board_say(name);
    board_say("\n");
    board_exit(2);
}

int board_open(const char *name, int write)
{
    const uint32_t block[3] = {(uint32_t)name, write ? MODE_WRITE : MODE_READ, length(name)};
    const int32_t file = ask_host(SYS_OPEN, block);
    if (file < 0) {
        board_fail("cannot open ", name);
    }
    return (int)file;
}

void board_read(int file, void *target, size_t bytes)
{
    const uint32_t block[3] = {(uint32_t)file, (uint32_t)target, bytes};
    if (bytes != 0 && ask_host(SYS_READ, block) != 0) {
        board_fail("cannot read ", "a file of the harness");
    }
}

void board_write(int file, const void *source, size_t bytes)
{
    const uint32_t block[3] = {(uint32_t)file, (uint32_t)source, bytes};
    if (bytes != 0 && ask_host(SYS_WRITE, block) != 0) {
        board_fail("cannot write ", "a file of the harness");
    }
}

void board_close(int file)
{
    const uint32_t block[1] = {(uint32_t)file};
    ask_host(SYS_CLOSE, block);
}

/* ---- faults ---- */

static void say_number(const char *name, uint32_t value)
{
    char text[12] = " 0x";
    for (size_t i = 0; i < 8; ++i) {
        text[3 + i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15u];
    }
    board_say(name);
    board_say(text);
}

static const struct {
    uint32_t bit;
    const char *name;
} reasons[] = {
    {1u << 0, "instruction fetch from a forbidden address (IACCVIOL)"},
    {1u << 1, "access to a forbidden address (DACCVIOL)"},
    {1u << 3, "return from exception failed (MUNSTKERR)"},
    {1u << 4, "no room on the stack for an exception (MSTKERR)"},
    {1u << 8, "instruction fetch where nothing is (IBUSERR)"},
    {1u << 9, "access where nothing is (PRECISERR)"},
    {1u << 10, "write where nothing is (IMPRECISERR)"},
    {1u << 11, "return from exception failed (UNSTKERR)"},
    {1u << 12, "no room on the stack for an exception (STKERR)"},
    {1u << 16, "undefined instruction (UNDEFINSTR)"},
    {1u << 17, "jump to an even address (INVSTATE)"},
    {1u << 18, "bad exception return (INVPC)"},
    {1u << 19, "instruction of a unit that is absent or off (NOCP)"},
    {1u << 20, "stack overflow (STKOF)"},
    {1u << 24, "unaligned access (UNALIGNED)"},
    {1u << 25, "division by zero (DIVBYZERO)"},
};

__attribute__((used, noreturn)) static void report_fault(const uint32_t *frame)
{
    const uint32_t status = CFSR;
    const int stacked = (status & (1u << 20 | 1u << 12 | 1u << 4)) == 0u; /* pc and lr could be saved */
    const int overflow = (status & 1u << 7) != 0u && MMFAR - (uint32_t)board_guard < 4096u;
    int named = overflow;
    if (overflow) {
        board_say("fault: stack overflow");
    }
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; ++i) {
        if (status & reasons[i].bit) {
            board_say(named ? ", " : "fault: ");
            board_say(reasons[i].name);
            named = 1;
        }
    }
    if (!named) {
        say_number("fault: HFSR", HFSR);
    }
    if (status & 1u << 7) {
        say_number("; address", MMFAR);
    } else if (status & 1u << 15) {
        say_number("; address", BFAR);
    }
    if (stacked) {
        say_number("; pc", frame[6]);
        say_number("; lr", frame[5]);
    }
    board_say("\n");
    board_exit(139);
}

/* On a stack of its own: the usual one may be what is broken. */
static uint32_t fault_stack[128] __attribute__((aligned(8), used));

__attribute__((naked)) static void on_fault(void)
{
    __asm__ volatile("mrs r0, msp\n\t"
#if __ARM_ARCH >= 8
                     "movs r1, #0\n\t"
                     "msr msplim, r1\n\t"
#endif
                     "ldr r1, =fault_stack + 512\n\t"
                     "msr msp, r1\n\t"
                     "bl report_fault\n\t"
                     ".ltorg");
}

/* ---- reset ---- */

__attribute__((used, noreturn)) static void start(void)
{
    const uint32_t *source = board_data_load;
    for (uint32_t *target = board_data_start; target < board_data_end;) {
        *target++ = *source++;
    }
    for (uint32_t *target = board_bss_start; target < board_bss_end;) {
        *target++ = 0u;
    }
    board_exit(main());
}

__attribute__((naked)) void board_reset(void)
{
    __asm__ volatile(
#if __ARM_ARCH >= 8
        "ldr r0, =board_stack_bottom\n\t"
        "msr msplim, r0\n\t"
#endif
        "bl enable_units\n\t"
        "bl start\n\t"
        ".ltorg");
}

__attribute__((used)) static void enable_units(void)
{
#if __ARM_ARCH < 8 /* the others have MSPLIM */
    MPU_RBAR = (uint32_t)board_guard | 1u << 4;      /* region 0 */
    MPU_RASR = 1u << 28 | (12u - 1u) << 1 | 1u << 0; /* no access to 2^12 bytes */
    MPU_CTRL = 1u << 2 | 1u << 0;                    /* and to everything else as without an MPU */
#endif
#ifdef TW_TRAP_UNALIGNED
    CCR |= 1u << 3;
#endif
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    CPACR |= 0xFu << 20; /* coprocessors 10 and 11: FPU and MVE */
#endif
#if defined(__ARM_FEATURE_MVE)
    CCR |= 1u << 19; /* low-overhead branches */
#endif
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

__attribute__((section(".vectors"), used)) static const struct {
    void *stack;
    void (*handlers[15])(void);
} vectors = {
    board_stack_top,
    {board_reset, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault},
};
