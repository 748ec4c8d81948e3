#pragma once
#include <stdint.h>

typedef struct {
    uintptr_t base; /* of the pixel's window in x */
    const uintptr_t *table; /* of each tap: bytes from the base, modulo the size of an address */
    const int8_t *w; /* eight channels of each tap in turn, or what is left of them */
    const int32_t *parameters; /* of eight channels: biases of even and odd ones, scales of even and odd ones */
    uint8_t *y;
    int32_t groups; /* of eight channels */
    int32_t zero_point;
} tw_mve_pixel;
