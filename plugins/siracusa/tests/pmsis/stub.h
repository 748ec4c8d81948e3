/* What the test programs ask of the stub beside the SDK's functions. */
#ifndef STUB_H
#define STUB_H

#include "pmsis.h"

#define STUB_L1 0x10000000u
#define STUB_L1_BYTES 0x40000u
#define STUB_L2 0x1C000000u
#define STUB_L2_BYTES 0x400000u

extern uint32_t stub_most_in_flight, stub_commands;

void stub_fail(const char *what);
void *stub_memory(uintptr_t address, size_t bytes); /* at the device's own address */
void stub_ram(size_t bytes);
uint8_t *stub_ram_bytes(void);
void stub_end(void);

#endif
