/* Copies between L2 and the external RAM. */
#ifndef TW_EXTERNAL_H
#define TW_EXTERNAL_H

#include <stdint.h>

#define TW_EXTERNAL 0x1000u /* numbers of these transfers begin here */

/* Memory is what a copy changes behind the compiler's back. */
#define TW_ORDER_COPIES() __asm__ volatile("" ::: "memory")

/* Rows between `here` in L2 and byte `there` of the RAM; its number. */
uint32_t tw_external_copy(uint8_t *here, uint32_t there, uint32_t bytes, uint32_t rows, uint32_t here_stride,
                          uint32_t there_stride, int store);
void tw_external_wait(uint32_t transfer);

#endif
