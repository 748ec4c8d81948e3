#include "xpulp.h"

/* A job of N-EUREKA: 24 registers, see tw_neureka_start. Pointers are as wide as they are here. */
typedef struct {
    int32_t rows;    /* of outputs that the engine computes */
    int32_t columns;
    int32_t inputs;  /* channels */
    int32_t outputs;
    int32_t top;     /* rows and columns outside of the image, which count as zeros */
    int32_t left;
    int32_t bottom;
    int32_t right;
    int32_t x_column; /* bytes from pixel to pixel */
    int32_t x_row;
    int32_t y_column;
    int32_t y_row;
    uint32_t conf;    /* register 23 */
    int32_t offset;   /* of weights as they are stored */
} tw_neureka_job;

enum {
    TW_NEUREKA_REGISTERS = 24,
    TW_NEUREKA_PIXELS = 6,
    TW_NEUREKA_TAPS = 0,
    TW_NEUREKA_CHANNELS = 1,
    TW_NEUREKA_POINTS = 2
};

#ifdef TW_XP_ASM
/* The engine itself. */
#  define TW_NEUREKA(offset) (*(volatile uint32_t *)(0x10201000u + (offset)))
#  define TW_NEUREKA_WEIGHTS 0x10400000u /* the weight memory, if bit 9 of `conf` says that weights are there */

TW_KERNEL void tw_neureka_run(const uintptr_t *registers)
{
    uint32_t context;
    do { /* two jobs at most: the context of one that has ended */
        context = TW_NEUREKA(0x04u);
    } while (context > 255u);
    TW_NEUREKA(0x20u) = registers[0] - (registers[23] >> 9 & 1u) * TW_NEUREKA_WEIGHTS;
    for (uint32_t i = 1; i < TW_NEUREKA_REGISTERS; ++i) {
        TW_NEUREKA(0x20u + 4u * i) = registers[i];
    }
    __asm__ volatile("" ::: "memory");
    TW_NEUREKA(0x00u) = 0u;
}

/* Until no more than the last `behind` jobs are there. */
TW_KERNEL void tw_neureka_wait(int32_t behind)
{
    uint32_t held;
    do {
        held = TW_NEUREKA(0x0cu);
    } while ((int32_t)((held & 1u) + (held >> 8 & 1u)) > behind);
    __asm__ volatile("" ::: "memory");
}
#else
/* A model of the engine, exact for what tw_neureka_start makes: it has everything at once. */
TW_KERNEL uint32_t tw_neureka_bit(const uint8_t *word, int32_t at)
{
    return (uint32_t)word[at / 8] >> (at % 8) & 1u;
}

/* One stored weight, plus the offset of register 21. */
TW_KERNEL int32_t tw_neureka_weight(const uintptr_t *r, uint32_t mode, const uint8_t *words, int32_t tap, int32_t c)
{
    const int32_t bits = (int32_t)(r[23] & 7u) + 1;
    uint32_t stored = 0u;
    for (int32_t b = 0; b < bits; ++b) {
        stored |= mode == TW_NEUREKA_POINTS ? tw_neureka_bit(words, c / 4 * 32 + b * 4 + c % 4) << b
                                            : tw_neureka_bit(words + r[12] * (uint32_t)b, tap * 28 + c) << b;
    }
    return (int32_t)stored + (int32_t)(uint32_t)r[21];
}

/* Tiles of a dimension: how many there are of, the size of this one. */
TW_KERNEL int32_t tw_neureka_part(uint32_t count, int32_t at, int32_t size, uint32_t rest)
{
    return (uint32_t)at + 1u == count ? (int32_t)rest : size;
}

/* Sums of one output channel over one tile's inputs, added to `sums`. */
TW_KERNEL void tw_neureka_accumulate(const uintptr_t *r, const int32_t *tile, const uint8_t *words, int32_t ki, int32_t lane,
        uint32_t *sums)
{
    const uint32_t mode = r[23] >> 5 & 3u;
    const int32_t side = mode == TW_NEUREKA_POINTS ? 1 : 3;
    const int32_t size = mode == TW_NEUREKA_POINTS ? 32 : 28;
    const int32_t some = tw_neureka_part((uint32_t)r[18] & 0xffffu, ki, size, (uint32_t)r[15] & 0xffffu);
    const int32_t first = mode == TW_NEUREKA_CHANNELS ? lane : 0;
    const int32_t last = mode == TW_NEUREKA_CHANNELS ? lane + 1 : some;
    const int32_t top = (int32_t)(r[20] >> 28 & 15u);
    const int32_t left = (int32_t)(r[20] >> 16 & 15u);
    int32_t weights[288];
    for (int32_t tap = 0; tap < side * side; ++tap) {
        for (int32_t c = first; c < last; ++c) {
            weights[tap * 32 + c] = tw_neureka_weight(r, mode, words, tap, c);
        }
    }
    for (int32_t i = 0; i < tile[2]; ++i) {
        for (int32_t j = 0; j < tile[3]; ++j) {
            uint32_t sum = 0u;
            for (int32_t tap = 0; tap < side * side; ++tap) {
                const int32_t row = i + tap / side;
                const int32_t column = j + tap % side;
                const int32_t y = tile[0] + row;
                const int32_t x = tile[1] + column;
                if (y < top || x < left || row >= tile[4] || column >= tile[5]) {
                    continue;
                }
                const uintptr_t at = r[1] + (uintptr_t)y * r[7] + (uintptr_t)x * r[6] + (uintptr_t)(ki * size);
                const uint8_t *pixel = (const uint8_t *)at;
                for (int32_t c = first; c < last; ++c) {
                    const int32_t value = r[23] >> 26 & 1u ? (int32_t)(int8_t)pixel[c] : (int32_t)pixel[c];
                    sum += (uint32_t)(value * weights[tap * 32 + c]);
                }
            }
            sums[i * TW_NEUREKA_PIXELS + j] += sum;
        }
    }
}

/* A sum, scaled and clipped, as 8 bits: the product in 64 bits, of which 32 are kept once there is a bias. */
TW_KERNEL uint8_t tw_neureka_scaled(const uintptr_t *r, uint32_t sum, int32_t channel)
{
    const uint32_t conf = (uint32_t)r[23];
    uint32_t scale = *((const uint8_t *)r[3] + channel);
    int32_t bias = 0;
    if (conf >> 12 & 2u) {
        memcpy(&scale, (const uint8_t *)r[3] + 4 * channel, sizeof scale);
    }
    int64_t value = (int64_t)(int32_t)sum * scale;
    if (conf >> 25 & 1u) {
        memcpy(&bias, (const uint8_t *)r[5] + 4 * channel, sizeof bias);
        value = (int32_t)((uint32_t)(uint64_t)value + (uint32_t)bias);
    }
    value >>= conf >> 16 & 31u;
    if (conf >> 23 & 1u) {
        return (uint8_t)(value < -128 ? -128 : value > 127 ? 127 : value);
    }
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* One output channel of one tile. `tile`: first row and column, rows and columns of outputs, of inputs. */
TW_KERNEL void tw_neureka_channel(const uintptr_t *r, const int32_t *tile, int32_t ko, int32_t lane, int32_t size)
{
    const uint32_t mode = r[23] >> 5 & 3u;
    const int32_t channel = ko * size + lane;
    const int32_t parts = mode == TW_NEUREKA_CHANNELS ? 1 : (int32_t)(r[18] & 0xffffu);
    const uintptr_t word = r[12] * (mode == TW_NEUREKA_POINTS ? 1u : (r[23] & 7u) + 1u);
    uint32_t sums[TW_NEUREKA_PIXELS * TW_NEUREKA_PIXELS] = {0u};
    for (int32_t part = 0; part < parts; ++part) {
        const int32_t ki = mode == TW_NEUREKA_CHANNELS ? ko : part;
        const uintptr_t at = r[0] + (uintptr_t)channel * r[13] + (uintptr_t)ki * word;
        tw_neureka_accumulate(r, tile, (const uint8_t *)at, ki, lane, sums);
    }
    for (int32_t i = 0; i < tile[2]; ++i) {
        for (int32_t j = 0; j < tile[3]; ++j) {
            const uint32_t sum = sums[i * TW_NEUREKA_PIXELS + j];
            uint8_t *y = (uint8_t *)(r[2] + (uintptr_t)(tile[0] + i) * r[11] + (uintptr_t)(tile[1] + j) * r[10]);
            if (r[23] >> 4 & 1u) {
                y[channel] = tw_neureka_scaled(r, sum, channel);
            } else { /* eight channels side by side, `r[9]` bytes from one eight to the next */
                memcpy(y + (uint32_t)(channel / 8) * r[9] + (uint32_t)(channel % 8) * 4u, &sum, sizeof sum);
            }
        }
    }
}

TW_KERNEL void tw_neureka_run(const uintptr_t *r)
{
    const uint32_t mode = r[23] >> 5 & 3u;
    const int32_t size = mode == TW_NEUREKA_CHANNELS ? 28 : 32;
    const int32_t around = mode == TW_NEUREKA_POINTS ? 0 : 2;
    const uint32_t tall = (uint32_t)(r[19] >> 16 & 0xffffu);
    const uint32_t wide = (uint32_t)(r[19] & 0xffffu);
    const uint32_t deep = (uint32_t)(r[18] >> 16 & 0xffffu);
    for (int32_t i = 0; i < (int32_t)tall; ++i) {
        for (int32_t j = 0; j < (int32_t)wide; ++j) {
            const int32_t rows = tw_neureka_part(tall, i, TW_NEUREKA_PIXELS, (uint32_t)r[16] >> 16 & 0xffffu);
            const int32_t columns = tw_neureka_part(wide, j, TW_NEUREKA_PIXELS, (uint32_t)r[16] & 0xffffu);
            const int32_t tile[6] = {
                i * TW_NEUREKA_PIXELS, j * TW_NEUREKA_PIXELS, rows, columns,
                tw_neureka_part(tall, i, TW_NEUREKA_PIXELS + around, (uint32_t)r[17] >> 16 & 0xffffu),
                tw_neureka_part(wide, j, TW_NEUREKA_PIXELS + around, (uint32_t)r[17] & 0xffffu),
            };
            for (int32_t ko = 0; ko < (int32_t)deep; ++ko) {
                const int32_t lanes = tw_neureka_part(deep, ko, size, (uint32_t)r[15] >> 16 & 0xffffu);
                for (int32_t lane = 0; lane < lanes; ++lane) {
                    tw_neureka_channel(r, tile, ko, lane, size);
                }
            }
        }
    }
}

TW_KERNEL void tw_neureka_wait(int32_t behind)
{
    (void)behind;
}
#endif

TW_KERNEL uint32_t tw_neureka_pair(int32_t high, int32_t low)
{
    return (uint32_t)high << 16 | (uint32_t)low;
}

TW_KERNEL int32_t tw_neureka_count(int32_t extent, int32_t size)
{
    return (extent + size - 1) / size;
}

TW_KERNEL int32_t tw_neureka_rest(int32_t extent, int32_t size)
{
    return (extent - 1) % size + 1;
}

/* Starts a job: `y` gets 8 bits where `conf` scales, else sums of 32 bits. */
TW_KERNEL void tw_neureka_start(tw_neureka_job p, const void *x, const void *w, void *y, const void *scales,
        const void *biases)
{
    const uint32_t mode = p.conf >> 5 & 3u;
    const uint32_t bits = (p.conf & 7u) + 1u;
    const int32_t reads = mode == TW_NEUREKA_POINTS ? 32 : 28;
    const int32_t writes = mode == TW_NEUREKA_CHANNELS ? 28 : 32;
    const int32_t around = mode == TW_NEUREKA_POINTS ? 0 : 2;
    const int32_t rest_rows = tw_neureka_rest(p.rows, TW_NEUREKA_PIXELS);
    const int32_t rest_columns = tw_neureka_rest(p.columns, TW_NEUREKA_PIXELS);
    const uint32_t words = (uint32_t)tw_neureka_count(p.inputs, reads) * (mode == TW_NEUREKA_POINTS ? 1u : bits);
    const uintptr_t registers[TW_NEUREKA_REGISTERS] = {
        (uintptr_t)w,
        (uintptr_t)x - (uintptr_t)(p.top * p.x_row + p.left * p.x_column),
        (uintptr_t)y,
        (uintptr_t)scales,
        0u,
        (uintptr_t)biases,
        (uintptr_t)p.x_column,
        (uintptr_t)p.x_row,
        0u,
        32u,
        (uintptr_t)p.y_column,
        (uintptr_t)p.y_row,
        32u,
        mode == TW_NEUREKA_CHANNELS ? 0u : 32u * words,
        0u,
        tw_neureka_pair(tw_neureka_rest(p.outputs, writes), tw_neureka_rest(p.inputs, reads)),
        tw_neureka_pair(rest_rows, rest_columns),
        tw_neureka_pair(rest_rows + around - p.bottom, rest_columns + around - p.right),
        tw_neureka_pair(tw_neureka_count(p.outputs, writes), tw_neureka_count(p.inputs, reads)),
        tw_neureka_pair(tw_neureka_count(p.rows, TW_NEUREKA_PIXELS), tw_neureka_count(p.columns, TW_NEUREKA_PIXELS)),
        (uint32_t)p.top << 28 | (uint32_t)p.right << 24 | (uint32_t)p.bottom << 20 | (uint32_t)p.left << 16,
        (uint32_t)p.offset,
        0u,
        p.conf,
    };
    tw_neureka_run(registers);
}
