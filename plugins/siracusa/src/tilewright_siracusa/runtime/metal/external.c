/* The HyperBus controller of the peripherals' engine (uDMA). Its transactions run one after the other.
 *
 * A transaction takes whole words at both ends, and rows that have gaps on one side. What is left over at the ends of
 * a row is brought and taken in words, through a small buffer; all of a row whose ends lie differently in their words.
 * Each access to a register takes a core some twenty cycles.
 */
#include "external.h"
#include "metal.h"

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
#define GAPS_ON_BUS (HYPER + 0x28u)       /* 1: there are; bytes of a row; from row to row */
#define GAPS_IN_L2 (HYPER + 0x34u)
#define START (1u << 4 | 2u << 1) /* enable; words of 32 bits */
#define MOST_WAITING 8u
#define MOST_BYTES 0xFFFFCu
#define WORD 4u
#define WORTH_ENDS 128u /* so many bytes take a core longer through the buffer than two more transactions for the ends */

static uint32_t issued; /* transactions so far */
static uint8_t words[1024] __attribute__((aligned(4)));

static uint32_t waiting(void)
{
    return STATUS >> 1 & 0xFFu;
}

/* Room for a transaction, in a controller that has a clock. */
static void demand_room(void)
{
    if (issued == 0u) {
        UDMA_CLOCKS |= 1u << HYPER_NUMBER;
    }
    while (waiting() >= MOST_WAITING) {
    }
}

/* The number of the transaction. */
static uint32_t launch(uint8_t *here, uint32_t there, uint32_t bytes, int store)
{
    const uint32_t number = issued + 1u;
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
    issued = number;
    return TW_EXTERNAL + number;
}

static uint32_t transaction(uint8_t *here, uint32_t there, uint32_t bytes, int store)
{
    demand_room();
    return launch(here, there, bytes, store);
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
    tw_external_wait(transaction(words, there, bytes, store));
    TW_ORDER_COPIES();
}

static void through_words(uint8_t *here, uint32_t there, uint32_t bytes, int store)
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
    const uint32_t before = (WORD - there % WORD) % WORD;
    const int alike = ((uint32_t)(uintptr_t)here - there) % WORD == 0u, whole = (before | bytes % WORD) == 0u;
    if (!alike || (!whole && bytes < WORTH_ENDS)) {
        through_words(here, there, bytes, store);
        return;
    }
    through_words(here, there, before, store);
    bytes -= before;
    here += before;
    there += before;
    while (bytes >= WORD) {
        const uint32_t part = bytes < MOST_BYTES ? bytes / WORD * WORD : MOST_BYTES;
        transaction(here, there, part, store);
        here += part;
        there += part;
        bytes -= part;
    }
    through_words(here, there, bytes, store);
}

/* Rows as they come. */
__attribute__((noinline)) static uint32_t row_by_row(uint8_t *here, uint32_t there, uint32_t bytes, uint32_t rows,
                                                     uint32_t here_stride, uint32_t there_stride, int store)
{
    for (uint32_t i = 0; i < rows; ++i) {
        row(here + i * here_stride, there + i * there_stride, bytes, store);
    }
    return TW_EXTERNAL + issued;
}

/* `size` bytes, in rows of `bytes` that have gaps on the side whose registers begin at `gaps`. */
static uint32_t rows_at_once(uint8_t *here, uint32_t there, uint32_t size, uint32_t bytes, uint32_t gaps,
                             uint32_t stride, int store)
{
    uint32_t number;
    demand_room();
    TW_REGISTER(gaps) = 1u;
    TW_REGISTER(gaps + 4u) = bytes;
    TW_REGISTER(gaps + 8u) = stride;
    number = launch(here, there, size, store);
    TW_REGISTER(gaps) = 0u;
    return number;
}

uint32_t tw_external_copy(uint8_t *here, uint32_t there, uint32_t bytes, uint32_t rows, uint32_t here_stride,
                          uint32_t there_stride, int store)
{
    const uint32_t size = rows * bytes;
    const int dense_here = rows == 1u || here_stride == bytes, dense_there = rows == 1u || there_stride == bytes;
    const int whole = (((uint32_t)(uintptr_t)here | there | bytes) % WORD) == 0u && size - 1u < MOST_BYTES;
    if (dense_here && dense_there) {
        return whole ? transaction(here, there, size, store) : row_by_row(here, there, size, 1u, 0u, 0u, store);
    }
    if (whole && dense_here && there_stride % WORD == 0u) {
        return rows_at_once(here, there, size, bytes, GAPS_ON_BUS, there_stride, store);
    }
    if (whole && dense_there && here_stride % WORD == 0u) {
        return rows_at_once(here, there, size, bytes, GAPS_IN_L2, here_stride, store);
    }
    return row_by_row(here, there, bytes, rows, here_stride, there_stride, store);
}
