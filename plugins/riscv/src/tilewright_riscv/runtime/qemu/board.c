/* The host's files by semihosting, protection of memory, and faults by name. */
#include "board.h"

#include "csr.h"

extern const uint8_t board_code[], board_constants[], board_data[], board_data_end[];

/* ---- semihosting ---- */

enum { SYS_OPEN = 0x01, SYS_CLOSE = 0x02, SYS_WRITE0 = 0x04, SYS_WRITE = 0x05, SYS_READ = 0x06, SYS_EXIT = 0x20 };
enum { MODE_READ = 1, MODE_WRITE = 5, APPLICATION_EXIT = 0x20026 };

/* The three instructions that QEMU knows; they may not lie on two pages. */
static int32_t ask_host(uint32_t operation, const void *block)
{
    register uint32_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = block;
    __asm__ volatile(".option push\n\t.option norvc\n\t.balign 16\n\t"
                     "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return (int32_t)a0;
}

static size_t length(const char *text)
{
    size_t count = 0;
    while (text[count] != '\0') {
        ++count;
    }
    return count;
}

static void say(const char *text)
{
    ask_host(SYS_WRITE0, text);
}

static void say_number(const char *before, uint32_t value)
{
    char text[16];
    size_t at = sizeof text;
    text[--at] = '\0';
    do {
        text[--at] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0u);
    say(before);
    say(text + at);
}

static void say_address(const char *before, uint32_t value)
{
    char text[12] = "0x";
    for (size_t i = 0; i < 8; ++i) {
        text[2 + i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15u];
    }
    say(before);
    say(text);
}

void board_exit(int status)
{
    const uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)status};
    ask_host(SYS_EXIT, block);
    for (;;) {
    }
}

static _Noreturn void end_here(void)
{
    say_number("\nhart ", csr_hart());
    say_number(" step ", board_now());
    say("\n");
    board_exit(139);
}

void board_fail(const char *what, const char *name)
{
    say(what);
    say(name);
    end_here();
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

/* ---- protection ---- */

enum { ENTRIES = 16, READ = 1, WRITE = 2, EXECUTE = 4, UP_TO = 1 << 3, EVERYWHERE = 3 << 3, LOCKED = 1 << 7 };

struct rules {
    uint32_t address[ENTRIES];
    uint8_t kind[ENTRIES];
    uint32_t count;
};

/* Addresses from the last one given up to `end` may be used so; `kind` 0: not at all. */
static void allow(struct rules *rules, const volatile void *end, int kind)
{
    rules->address[rules->count] = (uint32_t)end >> 2;
    rules->kind[rules->count] = kind ? (uint8_t)(kind | UP_TO | LOCKED) : 0u;
    ++rules->count;
}

/* The first entry that fits an address decides; the last one forbids everything. Locked entries bind machine mode. */
static struct rules rules_of(uint32_t hart)
{
    struct rules rules = {{0}, {0}, 0};
    const uint8_t *const stack = board_stacks + hart * (GUARD + STACK) + GUARD;
    allow(&rules, (const void *)CLINT, 0);
    allow(&rules, (const void *)(CLINT + CLINT_BYTES), READ | WRITE);
    allow(&rules, board_code, 0);
    allow(&rules, board_constants, READ | EXECUTE);
    allow(&rules, board_data, READ);
    allow(&rules, board_data_end, READ | WRITE);
    allow(&rules, stack, 0);
    allow(&rules, stack + STACK, READ | WRITE);
    for (uint32_t i = 0; i < board_memory_count; ++i) {
        allow(&rules, board_memories[i].room, 0);
        allow(&rules, board_memories[i].end, READ | WRITE);
    }
    rules.address[ENTRIES - 1] = 0xffffffffu;
    rules.kind[ENTRIES - 1] = EVERYWHERE | LOCKED;
    return rules;
}

static uint32_t four(const uint8_t *kind)
{
    return kind[0] | (uint32_t)kind[1] << 8 | (uint32_t)kind[2] << 16 | (uint32_t)kind[3] << 24;
}

void board_protect(uint32_t hart)
{
    const struct rules rules = rules_of(hart);
#define ADDRESS(n) CSR_WRITE(pmpaddr##n, rules.address[n]);
    ADDRESS(0) ADDRESS(1) ADDRESS(2) ADDRESS(3) ADDRESS(4) ADDRESS(5) ADDRESS(6) ADDRESS(7)
    ADDRESS(8) ADDRESS(9) ADDRESS(10) ADDRESS(11) ADDRESS(12) ADDRESS(13) ADDRESS(14) ADDRESS(15)
    CSR_WRITE(pmpcfg0, four(&rules.kind[0]));
    CSR_WRITE(pmpcfg1, four(&rules.kind[4]));
    CSR_WRITE(pmpcfg2, four(&rules.kind[8]));
    CSR_WRITE(pmpcfg3, four(&rules.kind[12]));
}

/* ---- faults ---- */

static const char *const reasons[] = {
    "instruction fetch from a misaligned address",
    "instruction fetch outside the program",
    "illegal instruction",
    "breakpoint",
    "load from a misaligned address",
    "load outside every memory",
    "store to a misaligned address",
    "store outside every memory",
};

static void say_near(uint32_t address)
{
    const uint32_t stack = address - (uint32_t)board_stacks;
    for (uint32_t i = 0; i < board_memory_count; ++i) {
        if (address - (uint32_t)board_memories[i].end < GUARD) {
            say(", just behind ");
            say(board_memories[i].name);
        } else if ((uint32_t)board_memories[i].room - address <= GUARD) {
            say(", just before ");
            say(board_memories[i].name);
        }
    }
    if (address - (uint32_t)board_code < (uint32_t)(board_data - board_code)) {
        say(", in the program or its constants");
    } else if (stack < TEAM * (GUARD + STACK)) {
        say_number(stack % (GUARD + STACK) < GUARD ? ", below the stack of hart " : ", in the stack of hart ",
                   stack / (GUARD + STACK));
    }
}

uint8_t board_fault_stacks[TEAM * FAULT_STACK] __attribute__((aligned(16)));
_Noreturn void board_fault(uint32_t hart, uint32_t cause, uint32_t pc, uint32_t value);

/* From crt.S, on a stack of its own: the usual one may be what is broken. */
_Noreturn void board_fault(uint32_t hart, uint32_t cause, uint32_t pc, uint32_t value)
{
    const uint32_t stack = (uint32_t)board_stacks + hart * (GUARD + STACK);
    const int known = cause < sizeof reasons / sizeof reasons[0];
    const int outside = known && cause % 2u == 1u && cause != 3u;
    if (outside && value - stack < GUARD) {
        say("TW7121 stack overflow");
    } else if (known) {
        say(outside ? "TW7111 " : "TW7120 ");
        say(reasons[cause]);
    } else {
        say_address("TW7120 exception ", cause);
    }
    say_address(cause == 2u ? ": " : ": address ", value);
    if (outside) {
        say_near(value);
    }
    say_address("; pc ", pc);
    end_here();
}
