/* The HyperBus controller of the peripherals' engine (uDMA). Its transactions run one after the other.
 *
 * A transaction takes whole words at both ends; rows that do not are brought and taken in words, through a small buffer.
 */
#include "external.h"
#include "siracusa.h"

#include <string.h>

#define UDMA 0x1A102000u
#define UDMA_CLOCKS TW_REGISTER(UDMA) /* a bit per peripheral */
#define HYPER_NUMBER 4u
#define HYPER (UDMA + 0x80u * (HYPER_NUMBER + 1u))
#define LOAD_ADDRESS TW_REGISTER(HYPER + 0x00u) /* in L2 */
#define LOAD_SIZE TW_REGISTER(HYPER + 0x04u)
#define LOAD_START TW_REGISTER(HYPER + 0x08u)
#define STORE_ADDRESS TW_REGISTER(HYPER + 0x0Cu)
#define STORE_SIZE TW_REGISTER(HYPER + 0x10u)
#define STORE_START TW_REGISTER(HYPER + 0x14u)
#define BUS_COMMAND TW_REGISTER(HYPER + 0x18u) /* bit 0: linear burst; bit 1: registers; bit 2: read */
#define BUS_ADDRESS TW_REGISTER(HYPER + 0x1Cu)
#define STATUS TW_REGISTER(HYPER + 0x24u) /* bit 0: busy; bits 1 to 8: transactions that wait or run */
#define ROWS_ON_BUS TW_REGISTER(HYPER + 0x28u)
#define ROWS_IN_L2 TW_REGISTER(HYPER + 0x34u)
#define START (1u << 4 | 2u << 1) /* enable; words of 32 bits */
#define MOST_WAITING 8u
#define MOST_BYTES 0xFFFFCu
#define WORD 4u

static uint32_t issued; /* transactions so far */
static uint8_t words[256] __attribute__((aligned(4)));

static uint32_t waiting(void)
{
    return STATUS >> 1 & 0xFFu;
}

static void transaction(uint8_t *here, uint32_t there, uint32_t bytes, int store)
{
    UDMA_CLOCKS |= 1u << HYPER_NUMBER;
    while (waiting() >= MOST_WAITING) {
    }
    ROWS_ON_BUS = 0u;
    ROWS_IN_L2 = 0u;
    BUS_ADDRESS = there;
    if (store) {
        BUS_COMMAND = 1u;
        STORE_ADDRESS = (uint32_t)(uintptr_t)here;
        STORE_SIZE = bytes;
        STORE_START = START;
    } else {
        BUS_COMMAND = 5u;
        LOAD_ADDRESS = (uint32_t)(uintptr_t)here;
        LOAD_SIZE = bytes;
        LOAD_START = START;
    }
    ++issued;
}

void tw_external_wait(uint32_t transfer)
{
    const uint32_t last = transfer - TW_EXTERNAL;
    while ((int32_t)(issued - waiting() - last) < 0) {
    }
    while (last == issued && (STATUS & 1u)) { /* the last one is over when the bus is free */
    }
}

/* The words around some bytes of the RAM, into the buffer or back. */
static void move_words(uint32_t there, uint32_t bytes, int store)
{
    transaction(words, there, bytes, store);
    tw_external_wait(TW_EXTERNAL + issued);
    TW_ORDER_COPIES();
}

static void row_in_parts(uint8_t *here, uint32_t there, uint32_t bytes, int store)
{
    while (bytes) {
        const uint32_t before = there % WORD;
        const uint32_t room = sizeof words - before;
        const uint32_t part = bytes < room ? bytes : room;
        const uint32_t whole = (before + part + WORD - 1u) / WORD * WORD;
        if (!store || whole != part) {
            move_words(there - before, whole, 0);
        }
        if (store) {
            memcpy(words + before, here, part);
            move_words(there - before, whole, 1);
        } else {
            memcpy(here, words + before, part);
        }
        here += part;
        there += part;
        bytes -= part;
    }
}

static void row(uint8_t *here, uint32_t there, uint32_t bytes, int store)
{
    if (((uint32_t)(uintptr_t)here | there | bytes) % WORD != 0u) {
        row_in_parts(here, there, bytes, store);
        return;
    }
    while (bytes) {
        const uint32_t part = bytes < MOST_BYTES ? bytes : MOST_BYTES;
        transaction(here, there, part, store);
        here += part;
        there += part;
        bytes -= part;
    }
}

uint32_t tw_external_copy(uint8_t *here, uint32_t there, uint32_t bytes, uint32_t rows, uint32_t here_stride,
                          uint32_t there_stride, int store)
{
    if (rows > 1u && here_stride == bytes && there_stride == bytes) {
        bytes *= rows;
        rows = 1u;
    }
    for (uint32_t i = 0; i < rows; ++i) {
        row(here + i * here_stride, there + i * there_stride, bytes, store);
    }
    return TW_EXTERNAL + issued;
}
