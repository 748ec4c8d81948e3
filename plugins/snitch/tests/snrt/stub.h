/* The runtime on the host. */
#ifndef STUB_H
#define STUB_H

#include <stddef.h>
#include <stdint.h>

/* Every core calls `work`, which returns 0; then no copy may be left. */
void stub_run(int (*work)(void));
void stub_fail(const char *what) __attribute__((noreturn));
extern uint32_t stub_copies, stub_most_in_flight;
extern uintptr_t stub_near; /* where TCDM begins */
extern size_t stub_near_bytes;

#endif
