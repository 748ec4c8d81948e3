/* The firmware of `bench` on QEMU's mps2-an386: the line is its first UART (CMSDK), the counter its first timer. */
#include "digits_int8_bench.h"

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define UART_DATA REGISTER(0x40004000u)
#define UART_STATE REGISTER(0x40004004u)
#define UART_CTRL REGISTER(0x40004008u)
#define UART_BAUDDIV REGISTER(0x40004010u)
#define TIMER_CTRL REGISTER(0x40000000u)
#define TIMER_VALUE REGISTER(0x40000004u)
#define TIMER_RELOAD REGISTER(0x40000008u)

static int get(void *user)
{
    (void)user;
    while ((UART_STATE & 2u) == 0u) { /* nothing has come */
    }
    return (int)(UART_DATA & 0xFFu);
}

static void put(void *user, uint8_t byte)
{
    (void)user;
    while ((UART_STATE & 1u) != 0u) { /* full */
    }
    UART_DATA = byte;
}

static uint32_t now(void *user)
{
    (void)user;
    return 0xFFFFFFFFu - TIMER_VALUE;
}

int main(void)
{
    const digits_int8_bench_port port = {get, put, now, 25000000u, "ticks", NULL};
    UART_BAUDDIV = 16u;
    UART_CTRL = 3u; /* both ways */
    TIMER_RELOAD = 0xFFFFFFFFu;
    TIMER_VALUE = 0xFFFFFFFFu;
    TIMER_CTRL = 1u;
    digits_int8_bench(&port);
    return 0;
}
