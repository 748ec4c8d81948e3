#pragma once
#include "prelude.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* `count` bytes, and zeros up to the next four. */
TW_KERNEL uint32_t *tw_dsp_widen_bytes(const uint8_t *x, int32_t count, uint32_t *to, int32_t apart)
{
    to[(count - 1) / 4] = 0;
    memcpy(to, x, (size_t)count);
    return to + ((count + 3) / 4 * apart);
}
