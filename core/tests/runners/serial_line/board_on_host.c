/* The firmware of `bench` as a program of this machine: the line is its input and output, the counter counts its calls. */
#include "toy_bench.h"

#include <stdio.h>

static uint32_t calls;

static int get(void *user)
{
    (void)user;
    return getchar();
}

static void put(void *user, uint8_t byte)
{
    (void)user;
    putchar(byte);
    fflush(stdout);
}

static uint32_t now(void *user)
{
    (void)user;
    return calls += 1000u;
}

int main(void)
{
    const toy_bench_port port = {get, put, now, 1000000u, "cycles", NULL};
    toy_bench(&port);
    return 0;
}
