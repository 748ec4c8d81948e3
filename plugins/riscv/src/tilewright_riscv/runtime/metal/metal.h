/* metal.h - what a program finds on a bare machine: the cluster, its clock, its stacks, a host to talk to.
 *
 * `main` runs on one core. `tw_cluster_run` has every core of the cluster call a function; inside it, tw_rt.h is all there
 * is. TW_CORES, TW_TEAM and TW_STACK_BYTES come from the command line; machine.h is the machine's own.
 */
#ifndef TW_METAL_H
#define TW_METAL_H

#include <stddef.h>
#include <stdint.h>

#define TW_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#include "machine.h" /* tw_cycles, of all cores alike; tw_is_far, whether only copies reach an address */

/* Every core of the cluster calls `entry`. Returns when all have returned: 0, or one of the statuses that were not 0,
 * or TW_STACK_OVERFLOW when a core's stack was too small. */
int tw_cluster_run(int (*entry)(void));
enum { TW_STACK_OVERFLOW = 139 };

/* The most that any core's stack has held so far. */
uint32_t tw_stack_bytes(void);

/* Through the debugger or simulator (RISC-V semihosting). */
void tw_say(const char *text);
void tw_say_number(uint32_t number);
void tw_say_bytes(const void *bytes, size_t size); /* in hexadecimal */
void tw_exit(int status) __attribute__((noreturn));

#endif
