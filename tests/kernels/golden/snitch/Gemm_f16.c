/* What the portable kernels below rely on. */
#if defined(__FAST_MATH__)
#  error "build this file without -ffast-math: results would no longer be the ones that were checked"
#endif
#ifndef TW_KERNEL /* -DTW_KERNEL='static' keeps one copy of each kernel: smaller, slower */
#  if defined(__GNUC__)
#    define TW_KERNEL static inline __attribute__((always_inline, unused))
#  else
#    define TW_KERNEL static inline
#  endif
#endif

#ifndef TW_SNITCH /* whether kernels may use streams and what goes with them; -DTW_SNITCH=0 elsewhere */
#  define TW_SNITCH 1
#endif

#define TW_TRANSFERS 8u

/* Tiles: which trips of its loops a tile runs, which part of an operand that touches, and its transfers. */
typedef struct {
    /* trips low .. high - 1 */
    int32_t low;
    int32_t high;
} tw_range;

typedef struct {
    /* positions of one axis */
    int32_t low;
    int32_t extent;
    /* positions outside it, where padding is read */
    int32_t before;
    int32_t after;
} tw_span;

typedef struct { /* transfers between two memories that may still be on their way, in the order they were started */
    uint32_t started;
    uint32_t arrived;
    uint32_t transfer[TW_TRANSFERS];
} tw_queue;

typedef struct { /* a tile buffer, and how many of the queue's transfers must have arrived before it is touched */
    uint8_t *bytes;
    tw_queue *queue;
    uint32_t after;
} tw_slot;

/* How many tiles of `size` trips there are in a range, and tile number `tile` of them. */
TW_KERNEL int32_t tw_tiles(tw_range range, int32_t size)
{
    return (range.high - range.low + size - 1) / size;
}

TW_KERNEL tw_range tw_tile(tw_range range, int32_t tile, int32_t size)
{
    const int32_t low = range.low + (tile * size);
    const tw_range cut = {low, ((range.high - low) < size) ? range.high : (low + size)};
    return cut;
}

/* This core's part of a range, a multiple of `grain` except at the end. May be empty. */
TW_KERNEL tw_range tw_share(tw_range range, int32_t grain)
{
    const int32_t cores = (int32_t)tw_rt_cores();
    const int32_t core = (int32_t)tw_rt_core();
    const int32_t trips = (range.high - range.low + (cores * grain) - 1) / (cores * grain) * grain;
    const int32_t low = range.low + (core * trips);
    const tw_range share = {low, ((core >= cores) || (low >= range.high)) ? low
                                 : ((range.high - low) < trips) ? range.high : (low + trips)};
    return share;
}

/* Positions first .. end - 1 of an axis; the second form for those that may lie outside its `size` positions. */
TW_KERNEL tw_span tw_span_inside(int32_t first, int32_t end)
{
    const tw_span span = {first, end - first, 0, 0};
    return span;
}

TW_KERNEL int32_t tw_clamp(int32_t value, int32_t low, int32_t high)
{
    return (value < low) ? low : ((value > high) ? high : value);
}

/* Positions of an extent when only every `step`-th counts. */
TW_KERNEL int32_t tw_steps(int32_t extent, int32_t step)
{
    return (extent + step - 1) / step;
}

TW_KERNEL int32_t tw_least(int32_t value, int32_t other)
{
    return (value < other) ? value : other;
}

TW_KERNEL tw_span tw_span_clipped(int32_t first, int32_t end, int32_t size)
{
    const int32_t low = tw_clamp(first, 0, size);
    const int32_t high = tw_clamp(end, 0, size);
    tw_span span = {low, 0, 0, 0};
    if (high > low) {
        span.extent = high - low;
    }
    if (first < 0) {
        span.before = -first;
    }
    if (end > size) {
        span.after = end - size;
    }
    return span;
}

/* Division towards minus infinity, and the smallest and largest of low % by, (low + 1) % by, .., high % by. */
TW_KERNEL int32_t tw_floor_div(int32_t value, int32_t by)
{
    int32_t down = value;
    if (value < 0) {
        down -= by - 1;
    }
    return down / by;
}

TW_KERNEL int32_t tw_mod_low(int32_t low, int32_t high, int32_t by)
{
    const int32_t turns = tw_floor_div(low, by);
    return (turns == tw_floor_div(high, by)) ? (low - (turns * by)) : 0;
}

TW_KERNEL int32_t tw_mod_high(int32_t low, int32_t high, int32_t by)
{
    const int32_t turns = tw_floor_div(high, by);
    return (turns == tw_floor_div(low, by)) ? (high - (turns * by)) : (by - 1);
}

/* Waits for the oldest transfer of a queue. */
TW_KERNEL void tw_oldest_arrives(tw_queue *queue)
{
    tw_rt_wait(queue->transfer[queue->arrived % TW_TRANSFERS]);
    ++queue->arrived;
}

/* Starts one more transfer of a window. Where TW_TRANSFERS are on their way, the oldest one must arrive first. */
TW_KERNEL void tw_transfer(tw_slot *slot, void *dst, const void *src, int32_t bytes, int32_t rows, int32_t dst_stride,
                           int32_t src_stride)
{
    tw_queue *const queue = slot->queue;
    if ((queue->started - queue->arrived) == TW_TRANSFERS) {
        tw_oldest_arrives(queue);
    }
    queue->transfer[queue->started % TW_TRANSFERS] =
        tw_rt_copy(dst, src, (uint32_t)bytes, (uint32_t)rows, (uint32_t)dst_stride, (uint32_t)src_stride);
    slot->after = ++queue->started;
}

/* Waits until everything that was started for the slot has arrived, and so whatever was started before. */
TW_KERNEL void tw_arrived(const tw_slot *slot)
{
    while (slot->after > slot->queue->arrived) {
        tw_oldest_arrives(slot->queue);
    }
}

/* Charges `cycles`, which a tile of `whole` points takes, for `part` points. */
TW_KERNEL void tw_charge(uint32_t cycles, int32_t part, int32_t whole)
{
    tw_rt_charge((uint32_t)((uint64_t)cycles * (uint32_t)part / (uint32_t)whole));
}

/* The bits of a float. */
TW_KERNEL uint32_t tw_bits_of_f32(float x)
{
    const union { float number; uint32_t bits; } both = {.number = x};
    return both.bits;
}

/* The bits of the nearest float16, halves to even; NaN stays NaN. By integers alone, whatever the rounding mode is,
 * where no core's own instruction does it. */
TW_KERNEL uint16_t tw_f16_of_f32(float x)
{
#ifdef TW_F16_OF_F32
    return TW_F16_OF_F32(x);
#else
    const uint32_t bits = tw_bits_of_f32(x);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t size = bits & 0x7fffffffu;
    uint32_t half = 0u;
    if (size > 0x7f800000u) {
        half = 0x7e00u;
    } else if (size >= 0x47800000u) { /* 2^16 and above; below it rounding reaches infinity by itself */
        half = 0x7c00u;
    } else if (size >= 0x38800000u) { /* 2^-14 and above */
        half = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
    } else if (size >= 0x33000000u) { /* 2^-25 and above: a count of 2^-24 */
        const uint32_t whole = (size & 0x7fffffu) | 0x800000u;
        const uint32_t shift = 126u - (size >> 23);
        half = (whole + (1u << (shift - 1u)) - 1u + ((whole >> shift) & 1u)) >> shift;
    }
    return (uint16_t)(sign | half);
#endif
}

/* The float that has these bits. */
TW_KERNEL float tw_f32_of_bits(uint32_t x)
{
    const union { uint32_t bits; float number; } both = {.bits = x};
    return both.number;
}

/* What the bits of a float16 stand for: exact. A core's own instruction may do it. */
TW_KERNEL float tw_f32_of_f16(uint16_t x)
{
#ifdef TW_F32_OF_F16
    return TW_F32_OF_F16(x);
#else
    const uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
    const uint32_t size = (uint32_t)(x & 0x7fffu) << 13;
    if (size < 0x00800000u) { /* zero, or below the normal range: a count of 2^-24 */
        const float value = (float)(size >> 13) * 0x1.0p-24f;
        return (sign != 0u) ? -value : value;
    }
    return tw_f32_of_bits(sign | (size + ((size < 0x0f800000u) ? 0x38000000u : 0x70000000u)));
#endif
}

/* Snitch's stream registers and hardware repetition. Define TW_SNITCH for cores that have them; assemblers need not
 * know them. While streams are on, ft0, ft1 and ft2 are theirs: no C that computes with floats stands there. */
#if defined(__GNUC__) /* what is large stands once */
#  define TW_SN_APART static __attribute__((noinline, unused))
#else
#  define TW_SN_APART static
#endif
#if defined(TW_SNITCH) && TW_SNITCH && defined(__riscv)
#  define TW_SN_STREAMS 1
/* scfgwi: a register of a stream. Repetition is register 1; bounds begin at 2, strides at 6, both for four dimensions;
 * a pointer for the first 1 to 4 dimensions, written last, begins at 24 to read, at 28 to write. */
#  define TW_SN_SET(stream, index, value) \
    __asm__ volatile(".insn i 0x2b, 2, x0, %0, %1" ::"r"(value), "i"((stream) | (index) << 5) : "memory")
/* frep.o: the `count` instructions that follow, once more than the register says. */
#  define TW_SN_REPEAT(times, count) ".insn i 0x0b, 0, x1, " times ", " #count " - 1\n\t"
/* Packed float32: vfadd.s, vfsub.s, vfmul.s, vfmac.s, vfmac.r.s (rs2: the lower half twice), vfmin.s, vfmax.s. */
#  define TW_SN_VFADD(rd, rs1, rs2) ".insn r 0x33, 0, 0x41, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFSUB(rd, rs1, rs2) ".insn r 0x33, 0, 0x42, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMUL(rd, rs1, rs2) ".insn r 0x33, 0, 0x43, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAC(rd, rs1, rs2) ".insn r 0x33, 0, 0x48, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAC_R(rd, rs1, rs2) ".insn r 0x33, 4, 0x48, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMIN(rd, rs1, rs2) ".insn r 0x33, 0, 0x45, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAX(rd, rs1, rs2) ".insn r 0x33, 0, 0x46, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* The same of four floats of 16 bits. */
#  define TW_SN_VFADD_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x41, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFSUB_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x42, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMUL_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x43, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAC_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x48, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMIN_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x45, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_SN_VFMAX_H(rd, rs1, rs2) ".insn r 0x33, 2, 0x46, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* Floats of 16 bits: flh, fsh, fcvt.s.h and fcvt.h.s (to the nearest), of registers that are C strings. */
#  define TW_SN_FLH(rd, place) ".insn i 0x07, 1, " rd ", " place "\n\t"
#  define TW_SN_FSH(rs, place) ".insn s 0x27, 1, " rs ", " place "\n\t"
#  define TW_SN_WIDE(rd) ".insn r 0x53, 0, 0x20, " rd ", " rd ", x2\n\t"
#  define TW_SN_NARROW(rd) ".insn r 0x53, 0, 0x22, " rd ", " rd ", x0\n\t"

/* Streams are read from TCDM only, eight bytes at a time. */
TW_KERNEL int tw_sn_near(const void *pointer)
{
    const uint32_t address = (uint32_t)(uintptr_t)pointer;
    return ((address - 0x10000000u) < 0x20000u) && ((address % 8u) == 0u);
}

/* Twice the same float32, in the two halves of a register (vfcpka.s.s). */
TW_KERNEL double tw_sn_pair(float value)
{
    double both;
    __asm__ volatile(".insn r 0x33, 0, 0x58, %0, %1, %1" : "=f"(both) : "f"(value));
    return both;
}

/* The two halves of a register. They go through memory: only loads and stores take it apart. */
TW_KERNEL float tw_sn_apart(double both, float *upper)
{
    double room;
    float low;
    float high;
    __asm__ volatile("fsd %2, 0(%3)\n\tflw %0, 0(%3)\n\tflw %1, 4(%3)"
                     : "=&f"(low), "=&f"(high)
                     : "f"(both), "r"(&room)
                     : "memory");
    *upper = high;
    return low;
}

/* The sum of two halves. */
TW_KERNEL float tw_sn_halves(double both)
{
    float upper;
    const float lower = tw_sn_apart(both, &upper);
    return lower + upper;
}

/* Four times the same value, rounded to 16 bits. Only the float unit writes and reads it, by its own path to memory. */
TW_KERNEL double tw_sn_four(float value)
{
    double all;
    double room;
    __asm__ volatile(TW_SN_NARROW("%1") TW_SN_FSH("%1", "0(%2)") TW_SN_FSH("%1", "2(%2)") TW_SN_FSH("%1", "4(%2)")
                     TW_SN_FSH("%1", "6(%2)") "fld %0, 0(%2)"
                     : "=f"(all), "+&f"(value)
                     : "r"(&room)
                     : "memory");
    return all;
}

/* The sum of four floats of 16 bits. */
TW_KERNEL float tw_sn_quarters(double all)
{
    double room;
    float one;
    float two;
    float three;
    float four;
    __asm__ volatile("fsd %4, 0(%5)\n\t" TW_SN_FLH("%0", "0(%5)") TW_SN_FLH("%1", "2(%5)") TW_SN_FLH("%2", "4(%5)")
                     TW_SN_FLH("%3", "6(%5)") TW_SN_WIDE("%0") TW_SN_WIDE("%1") TW_SN_WIDE("%2") TW_SN_WIDE("%3")
                     : "=&f"(one), "=&f"(two), "=&f"(three), "=&f"(four)
                     : "f"(all), "r"(&room)
                     : "memory");
    return (one + two) + (three + four);
}

/* Until the float unit has done all that it was given. */
TW_KERNEL void tw_sn_settle(void)
{
    uint32_t last;
    __asm__ volatile("fmv.x.w %0, fa0\n\tmv %0, %0" : "=r"(last)::"memory");
    (void)last;
}

/* An element of a stream: bounds (elements less one) and strides (bytes) from inside out. The machine adds what leads
 * from the last element inside to the next one outside. */
typedef struct {
    uint32_t bound[4];
    int32_t stride[4];
} tw_sn_walk;

TW_KERNEL void tw_sn_on(void)
{
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrsi 0x7C0, 1\n\t.option pop" ::: "memory");
}

TW_KERNEL void tw_sn_off(void)
{
    tw_sn_settle();
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrci 0x7C0, 1\n\t.option pop" ::: "memory");
}

/* Until a stream that writes has written everything (scfgri: a stream's status, negative when it has). What has not
 * left for memory when streams are switched off is lost. */
TW_KERNEL void tw_sn_written(void)
{
    int32_t status;
    do {
        __asm__ volatile(".insn i 0x2b, 1, %0, x0, 2" : "=r"(status)::"memory");
    } while (status >= 0);
}

/* All four dimensions of a stream; each element is given `repeat` times more. They stay from start to start. What leads
 * to the next dimension is summed up in registers: a walk that is read in a loop would be on the stack. */
#  define TW_SN_WALK(stream, walk, repeat) \
    do { \
        const int32_t walked_0 = (int32_t)(walk).bound[0] * (walk).stride[0]; \
        const int32_t walked_1 = walked_0 + ((int32_t)(walk).bound[1] * (walk).stride[1]); \
        const int32_t walked_2 = walked_1 + ((int32_t)(walk).bound[2] * (walk).stride[2]); \
        TW_SN_SET(stream, 1, repeat); \
        TW_SN_SET(stream, 2, (walk).bound[0]); \
        TW_SN_SET(stream, 3, (walk).bound[1]); \
        TW_SN_SET(stream, 4, (walk).bound[2]); \
        TW_SN_SET(stream, 5, (walk).bound[3]); \
        TW_SN_SET(stream, 6, (walk).stride[0]); \
        TW_SN_SET(stream, 7, (walk).stride[1] - walked_0); \
        TW_SN_SET(stream, 8, (walk).stride[2] - walked_1); \
        TW_SN_SET(stream, 9, (walk).stride[3] - walked_2); \
    } while (0)
/* Neighbours: `last` + 1 elements of one dimension, whose pointers are 24 to read and 28 to write. */
#  define TW_SN_RUN(stream, repeat, last) \
    do { \
        TW_SN_SET(stream, 1, repeat); \
        TW_SN_SET(stream, 2, last); \
        TW_SN_SET(stream, 6, 8); \
    } while (0)
#  define TW_SN_READ(stream, pointer) TW_SN_SET(stream, 27, pointer)
#  define TW_SN_WRITE(stream, pointer) TW_SN_SET(stream, 31, pointer)
#endif

/* Which format instructions on 16 bits mean: 0 is float16, 3 bfloat16, on both sides. */
TW_KERNEL void tw_sn_f16_mode(uint32_t mode)
{
    (void)mode;
}

/* So many as float32, `step` elements apart; in the mode of their format, as the next. */
TW_SN_APART void tw_sn_f16_widen(const uint16_t *from, int32_t step, int32_t count, float *to)
{
    int32_t i = 0;
#ifdef TW_SN_STREAMS
    for (; (step == 1) && ((i + 4) <= count); i += 4) {
        float one;
        float two;
        float three;
        float four;
        __asm__ volatile(TW_SN_FLH("%0", "0(%4)") TW_SN_FLH("%1", "2(%4)") TW_SN_FLH("%2", "4(%4)") TW_SN_FLH("%3",
            "6(%4)")
                         TW_SN_WIDE("%0") TW_SN_WIDE("%1") TW_SN_WIDE("%2") TW_SN_WIDE("%3")
                         : "=&f"(one), "=&f"(two), "=&f"(three), "=&f"(four)
                         : "r"(from + i)
                         : "memory");
        to[i] = one;
        to[i + 1] = two;
        to[i + 2] = three;
        to[i + 3] = four;
    }
    for (; i < count; ++i) {
        __asm__ volatile(TW_SN_FLH("%0", "0(%1)") TW_SN_WIDE("%0") : "=&f"(to[i]) : "r"(from + i * step) : "memory");
    }
#else
    for (; i < count; ++i) {
        to[i] = tw_f32_of_f16(from[i * step]);
    }
#endif
}

/* So many float32, each rounded once, to places `step` elements apart. */
TW_SN_APART void tw_sn_f16_narrow(const float *from, int32_t count, uint16_t *to, int32_t step)
{
    int32_t i = 0;
#ifdef TW_SN_STREAMS
    for (; (step == 1) && ((i + 4) <= count); i += 4) {
        float one = from[i];
        float two = from[i + 1];
        float three = from[i + 2];
        float four = from[i + 3];
        __asm__ volatile(TW_SN_NARROW("%0") TW_SN_NARROW("%1") TW_SN_NARROW("%2") TW_SN_NARROW("%3")
                         TW_SN_FSH("%0", "0(%4)") TW_SN_FSH("%1", "2(%4)") TW_SN_FSH("%2", "4(%4)") TW_SN_FSH("%3",
                             "6(%4)")
                         : "+f"(one), "+f"(two), "+f"(three), "+f"(four)
                         : "r"(to + i)
                         : "memory");
    }
    for (; i < count; ++i) {
        float one = from[i];
        __asm__ volatile(TW_SN_NARROW("%0") TW_SN_FSH("%0", "0(%1)") : "+f"(one) : "r"(to + i * step) : "memory");
    }
#else
    for (; i < count; ++i) {
        to[i * step] = tw_f16_of_f32(from[i]);
    }
#endif
}

/* Rows of outputs, each the product of a window of `a` and a row of weights: `runs` of `run` elements that are
 * neighbours. Steps are in elements. */
typedef struct {
    int32_t rows;
    int32_t outputs;
    int32_t run;
    int32_t runs;
    /* from window to window, from run to run */
    int32_t a_row;
    int32_t a_run;
    /* from output to output, from run to run, from product to product */
    int32_t b_output;
    int32_t b_run;
    int32_t b_element;
    int32_t c_row;
    int32_t c_output;
    int32_t y_row;
    int32_t y_output;
} tw_sn_products;

/* More than once so many runs, where that is said: what is between rounds. */
typedef struct {
    int32_t rounds;
    int32_t a_round;
    int32_t b_round;
} tw_sn_rounds;

/* Where results are, and biases, of products in parts; whether this is the first part, the last part. */
typedef struct {
    int32_t first;
    int32_t last;
    int32_t c_row;
    int32_t c_output;
    int32_t y_row;
    int32_t y_output;
} tw_sn_results;

/* The fused activation; NaN stays NaN. */
TW_KERNEL float tw_sn_float_none(float value, float low, float high)
{
    (void)low;
    (void)high;
    return value;
}

/* y = clip(a . b + c), as every machine computes it. */
TW_KERNEL void tw_sn_f32_products_none_11_plain(const tw_sn_products *p, float low, float high, const float *a,
        const float *b, const float *c, float *y)
{
    for (int32_t m = 0; m < p->rows; ++m) {
        for (int32_t n = 0; n < p->outputs; ++n) {
            float sum = 0;
            for (int32_t r = 0; r < p->runs; ++r) {
                const float *const ar = a + ((m * p->a_row) + (r * p->a_run));
                const float *const br = b + ((n * p->b_output) + (r * p->b_run));
                for (int32_t k = 0; k < p->run; ++k) {
                    sum += ar[k] * br[k * p->b_element];
                }
            }
            if (c) {
                sum += c[(m * p->c_row) + (n * p->c_output)];
            }
            y[(m * p->y_row) + (n * p->y_output)] = tw_sn_float_none(sum, low, high);
        }
    }
}

#ifdef TW_SN_STREAMS
/* Every row's outputs, 8 at a time; rows of weights are one run, or there is one row of outputs. Returns 0, or NaN
 * where something was clipped that is infinite or NaN: minima and maxima would lose that. */
TW_SN_APART float tw_sn_f32_products_none_11_8(const tw_sn_products *p, int32_t rows, int32_t blocks, float low,
        float high, const float *a, const float *b, const float *c, float *y, double *lanes)
{
    const int32_t whole = (p->runs == 1) || (p->b_run == (p->run * p->b_element));
    const uint32_t steps = (uint32_t)p->run / 2u;
    const uint32_t runs = (uint32_t)p->runs;
    const uint32_t all = steps * runs;
    const uint32_t times = all - 2u;
    const int32_t step = p->b_element * 8;
    const tw_sn_walk walk_a = {{steps - 1u, runs - 1u, (uint32_t)blocks - 1u, (uint32_t)rows - 1u},
                               {8, p->a_run * 4, 0, p->a_row * 4}};
    const int32_t b_block = p->b_output * 32;
    const tw_sn_walk walk_b = {{7u, (whole ? all : steps) - 1u, (uint32_t)(whole ? blocks : p->runs) - 1u,
                                (uint32_t)(whole ? rows : blocks) - 1u},
                               {p->b_output * 4, step, whole ? b_block : (p->b_run * 4), whole ? 0 : b_block}};
    tw_sn_settle();
    TW_SN_WALK(0, walk_a, 7);
    TW_SN_WALK(1, walk_b, 0);
    TW_SN_READ(0, a);
    TW_SN_READ(1, b);
    tw_sn_on();
    float *to = y;
    /* Integer products take five cycles: none in a block. */
    const int32_t y_next = p->y_row - (blocks * 8 * p->y_output);
    const float *from = c;
    const int32_t c_next = p->c_row - (blocks * 8 * p->c_output);
    for (int32_t m = 0; m < rows; ++m) {
        for (int32_t block = 0; block < blocks; ++block) {
            __asm__ volatile(
                TW_SN_VFMUL(ft3, ft0, ft1)
                TW_SN_VFMUL(ft4, ft0, ft1)
                TW_SN_VFMUL(ft5, ft0, ft1)
                TW_SN_VFMUL(ft6, ft0, ft1)
                TW_SN_VFMUL(ft7, ft0, ft1)
                TW_SN_VFMUL(fa0, ft0, ft1)
                TW_SN_VFMUL(fa1, ft0, ft1)
                TW_SN_VFMUL(fa2, ft0, ft1)
                TW_SN_REPEAT("%[times]", 8)
                TW_SN_VFMAC(ft3, ft0, ft1)
                TW_SN_VFMAC(ft4, ft0, ft1)
                TW_SN_VFMAC(ft5, ft0, ft1)
                TW_SN_VFMAC(ft6, ft0, ft1)
                TW_SN_VFMAC(ft7, ft0, ft1)
                TW_SN_VFMAC(fa0, ft0, ft1)
                TW_SN_VFMAC(fa1, ft0, ft1)
                TW_SN_VFMAC(fa2, ft0, ft1)
                "fsd ft3, 0(%[lanes])\n\t"
                "fsd ft4, 8(%[lanes])\n\t"
                "fsd ft5, 16(%[lanes])\n\t"
                "fsd ft6, 24(%[lanes])\n\t"
                "fsd ft7, 32(%[lanes])\n\t"
                "fsd fa0, 40(%[lanes])\n\t"
                "fsd fa1, 48(%[lanes])\n\t"
                "fsd fa2, 56(%[lanes])\n\t"
                "flw ft3, 0(%[lanes])\n\t"
                "flw fa3, 4(%[lanes])\n\t"
                "flw ft4, 8(%[lanes])\n\t"
                "flw fa4, 12(%[lanes])\n\t"
                "flw ft5, 16(%[lanes])\n\t"
                "flw fa5, 20(%[lanes])\n\t"
                "flw ft6, 24(%[lanes])\n\t"
                "flw fa6, 28(%[lanes])\n\t"
                "flw ft7, 32(%[lanes])\n\t"
                "flw fa7, 36(%[lanes])\n\t"
                "flw fa0, 40(%[lanes])\n\t"
                "flw ft8, 44(%[lanes])\n\t"
                "flw fa1, 48(%[lanes])\n\t"
                "flw ft9, 52(%[lanes])\n\t"
                "flw fa2, 56(%[lanes])\n\t"
                "flw fs2, 60(%[lanes])\n\t"
                "fadd.s ft3, ft3, fa3\n\t"
                "fadd.s ft4, ft4, fa4\n\t"
                "fadd.s ft5, ft5, fa5\n\t"
                "fadd.s ft6, ft6, fa6\n\t"
                "fadd.s ft7, ft7, fa7\n\t"
                "fadd.s fa0, fa0, ft8\n\t"
                "fadd.s fa1, fa1, ft9\n\t"
                "fadd.s fa2, fa2, fs2\n\t"
                "flw fa3, 0(%[c])\n\t"
                "flw fa4, 4(%[c])\n\t"
                "flw fa5, 8(%[c])\n\t"
                "flw fa6, 12(%[c])\n\t"
                "flw fa7, 16(%[c])\n\t"
                "flw ft8, 20(%[c])\n\t"
                "flw ft9, 24(%[c])\n\t"
                "flw fs2, 28(%[c])\n\t"
                "fadd.s ft3, ft3, fa3\n\t"
                "fadd.s ft4, ft4, fa4\n\t"
                "fadd.s ft5, ft5, fa5\n\t"
                "fadd.s ft6, ft6, fa6\n\t"
                "fadd.s ft7, ft7, fa7\n\t"
                "fadd.s fa0, fa0, ft8\n\t"
                "fadd.s fa1, fa1, ft9\n\t"
                "fadd.s fa2, fa2, fs2\n\t"
                "fsw ft3, 0(%[y])\n\t"
                "fsw ft4, 4(%[y])\n\t"
                "fsw ft5, 8(%[y])\n\t"
                "fsw ft6, 12(%[y])\n\t"
                "fsw ft7, 16(%[y])\n\t"
                "fsw fa0, 20(%[y])\n\t"
                "fsw fa1, 24(%[y])\n\t"
                "fsw fa2, 28(%[y])\n\t"
                : [y] "+r"(to), [c] "+r"(from)
                : [times] "r"(times), [lanes] "r"(lanes)
                : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
                    "fa6", "fa7", "ft8", "ft9", "fs2", "memory");
            to += 8;
            from += 8;
        }
        to += y_next;
        from += c_next;
    }
    tw_sn_off();
    (void)high;
    (void)low;
    return 0;
}

/* Every row's outputs, 4 at a time; rows of weights are one run, or there is one row of outputs. Returns 0, or NaN
 * where something was clipped that is infinite or NaN: minima and maxima would lose that. */
TW_SN_APART float tw_sn_f32_products_none_11_4(const tw_sn_products *p, int32_t rows, int32_t blocks, float low,
        float high, const float *a, const float *b, const float *c, float *y, double *lanes)
{
    const int32_t whole = (p->runs == 1) || (p->b_run == (p->run * p->b_element));
    const uint32_t steps = (uint32_t)p->run / 2u;
    const uint32_t runs = (uint32_t)p->runs;
    const uint32_t all = steps * runs;
    const uint32_t times = all - 2u;
    const int32_t step = p->b_element * 8;
    const tw_sn_walk walk_a = {{steps - 1u, runs - 1u, (uint32_t)blocks - 1u, (uint32_t)rows - 1u},
                               {8, p->a_run * 4, 0, p->a_row * 4}};
    const int32_t b_block = p->b_output * 16;
    const tw_sn_walk walk_b = {{3u, (whole ? all : steps) - 1u, (uint32_t)(whole ? blocks : p->runs) - 1u,
                                (uint32_t)(whole ? rows : blocks) - 1u},
                               {p->b_output * 4, step, whole ? b_block : (p->b_run * 4), whole ? 0 : b_block}};
    tw_sn_settle();
    TW_SN_WALK(0, walk_a, 3);
    TW_SN_WALK(1, walk_b, 0);
    TW_SN_READ(0, a);
    TW_SN_READ(1, b);
    tw_sn_on();
    float *to = y;
    /* Integer products take five cycles: none in a block. */
    const int32_t y_next = p->y_row - (blocks * 4 * p->y_output);
    const float *from = c;
    const int32_t c_next = p->c_row - (blocks * 4 * p->c_output);
    for (int32_t m = 0; m < rows; ++m) {
        for (int32_t block = 0; block < blocks; ++block) {
            __asm__ volatile(
                TW_SN_VFMUL(ft3, ft0, ft1)
                TW_SN_VFMUL(ft4, ft0, ft1)
                TW_SN_VFMUL(ft5, ft0, ft1)
                TW_SN_VFMUL(ft6, ft0, ft1)
                TW_SN_REPEAT("%[times]", 4)
                TW_SN_VFMAC(ft3, ft0, ft1)
                TW_SN_VFMAC(ft4, ft0, ft1)
                TW_SN_VFMAC(ft5, ft0, ft1)
                TW_SN_VFMAC(ft6, ft0, ft1)
                "fsd ft3, 0(%[lanes])\n\t"
                "fsd ft4, 8(%[lanes])\n\t"
                "fsd ft5, 16(%[lanes])\n\t"
                "fsd ft6, 24(%[lanes])\n\t"
                "flw ft3, 0(%[lanes])\n\t"
                "flw fa3, 4(%[lanes])\n\t"
                "flw ft4, 8(%[lanes])\n\t"
                "flw fa4, 12(%[lanes])\n\t"
                "flw ft5, 16(%[lanes])\n\t"
                "flw fa5, 20(%[lanes])\n\t"
                "flw ft6, 24(%[lanes])\n\t"
                "flw fa6, 28(%[lanes])\n\t"
                "fadd.s ft3, ft3, fa3\n\t"
                "fadd.s ft4, ft4, fa4\n\t"
                "fadd.s ft5, ft5, fa5\n\t"
                "fadd.s ft6, ft6, fa6\n\t"
                "flw fa3, 0(%[c])\n\t"
                "flw fa4, 4(%[c])\n\t"
                "flw fa5, 8(%[c])\n\t"
                "flw fa6, 12(%[c])\n\t"
                "fadd.s ft3, ft3, fa3\n\t"
                "fadd.s ft4, ft4, fa4\n\t"
                "fadd.s ft5, ft5, fa5\n\t"
                "fadd.s ft6, ft6, fa6\n\t"
                "fsw ft3, 0(%[y])\n\t"
                "fsw ft4, 4(%[y])\n\t"
                "fsw ft5, 8(%[y])\n\t"
                "fsw ft6, 12(%[y])\n\t"
                : [y] "+r"(to), [c] "+r"(from)
                : [times] "r"(times), [lanes] "r"(lanes)
                : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
                    "fa6", "fa7", "ft8", "ft9", "fs2", "memory");
            to += 4;
            from += 4;
        }
        to += y_next;
        from += c_next;
    }
    tw_sn_off();
    (void)high;
    (void)low;
    return 0;
}

/* Every row's outputs, 2 at a time; rows of weights are one run, or there is one row of outputs. Returns 0, or NaN
 * where something was clipped that is infinite or NaN: minima and maxima would lose that. */
TW_SN_APART float tw_sn_f32_products_none_11_2(const tw_sn_products *p, int32_t rows, int32_t blocks, float low,
        float high, const float *a, const float *b, const float *c, float *y, double *lanes)
{
    const int32_t whole = (p->runs == 1) || (p->b_run == (p->run * p->b_element));
    const uint32_t steps = (uint32_t)p->run / 2u;
    const uint32_t runs = (uint32_t)p->runs;
    const uint32_t all = steps * runs;
    const uint32_t times = all - 2u;
    const int32_t step = p->b_element * 8;
    const tw_sn_walk walk_a = {{steps - 1u, runs - 1u, (uint32_t)blocks - 1u, (uint32_t)rows - 1u},
                               {8, p->a_run * 4, 0, p->a_row * 4}};
    const int32_t b_block = p->b_output * 8;
    const tw_sn_walk walk_b = {{1u, (whole ? all : steps) - 1u, (uint32_t)(whole ? blocks : p->runs) - 1u,
                                (uint32_t)(whole ? rows : blocks) - 1u},
                               {p->b_output * 4, step, whole ? b_block : (p->b_run * 4), whole ? 0 : b_block}};
    tw_sn_settle();
    TW_SN_WALK(0, walk_a, 1);
    TW_SN_WALK(1, walk_b, 0);
    TW_SN_READ(0, a);
    TW_SN_READ(1, b);
    tw_sn_on();
    float *to = y;
    /* Integer products take five cycles: none in a block. */
    const int32_t y_next = p->y_row - (blocks * 2 * p->y_output);
    const float *from = c;
    const int32_t c_next = p->c_row - (blocks * 2 * p->c_output);
    for (int32_t m = 0; m < rows; ++m) {
        for (int32_t block = 0; block < blocks; ++block) {
            __asm__ volatile(
                TW_SN_VFMUL(ft3, ft0, ft1)
                TW_SN_VFMUL(ft4, ft0, ft1)
                TW_SN_REPEAT("%[times]", 2)
                TW_SN_VFMAC(ft3, ft0, ft1)
                TW_SN_VFMAC(ft4, ft0, ft1)
                "fsd ft3, 0(%[lanes])\n\t"
                "fsd ft4, 8(%[lanes])\n\t"
                "flw ft3, 0(%[lanes])\n\t"
                "flw fa3, 4(%[lanes])\n\t"
                "flw ft4, 8(%[lanes])\n\t"
                "flw fa4, 12(%[lanes])\n\t"
                "fadd.s ft3, ft3, fa3\n\t"
                "fadd.s ft4, ft4, fa4\n\t"
                "flw fa3, 0(%[c])\n\t"
                "flw fa4, 4(%[c])\n\t"
                "fadd.s ft3, ft3, fa3\n\t"
                "fadd.s ft4, ft4, fa4\n\t"
                "fsw ft3, 0(%[y])\n\t"
                "fsw ft4, 4(%[y])\n\t"
                : [y] "+r"(to), [c] "+r"(from)
                : [times] "r"(times), [lanes] "r"(lanes)
                : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
                    "fa6", "fa7", "ft8", "ft9", "fs2", "memory");
            to += 2;
            from += 2;
        }
        to += y_next;
        from += c_next;
    }
    tw_sn_off();
    (void)high;
    (void)low;
    return 0;
}

/* Every row's outputs, 1 at a time; rows of weights are one run, or there is one row of outputs. Returns 0, or NaN
 * where something was clipped that is infinite or NaN: minima and maxima would lose that. */
TW_SN_APART float tw_sn_f32_products_none_11_1(const tw_sn_products *p, int32_t rows, int32_t blocks, float low,
        float high, const float *a, const float *b, const float *c, float *y, double *lanes)
{
    const int32_t whole = (p->runs == 1) || (p->b_run == (p->run * p->b_element));
    const uint32_t steps = (uint32_t)p->run / 2u;
    const uint32_t runs = (uint32_t)p->runs;
    const uint32_t all = steps * runs;
    const uint32_t times = all - 2u;
    const int32_t step = p->b_element * 8;
    const tw_sn_walk walk_a = {{steps - 1u, runs - 1u, (uint32_t)blocks - 1u, (uint32_t)rows - 1u},
                               {8, p->a_run * 4, 0, p->a_row * 4}};
    const int32_t b_block = p->b_output * 4;
    const tw_sn_walk walk_b = {{0u, (whole ? all : steps) - 1u, (uint32_t)(whole ? blocks : p->runs) - 1u,
                                (uint32_t)(whole ? rows : blocks) - 1u},
                               {p->b_output * 4, step, whole ? b_block : (p->b_run * 4), whole ? 0 : b_block}};
    tw_sn_settle();
    TW_SN_WALK(0, walk_a, 0);
    TW_SN_WALK(1, walk_b, 0);
    TW_SN_READ(0, a);
    TW_SN_READ(1, b);
    tw_sn_on();
    float *to = y;
    /* Integer products take five cycles: none in a block. */
    const int32_t y_next = p->y_row - (blocks * 1 * p->y_output);
    const float *from = c;
    const int32_t c_next = p->c_row - (blocks * 1 * p->c_output);
    for (int32_t m = 0; m < rows; ++m) {
        for (int32_t block = 0; block < blocks; ++block) {
            __asm__ volatile(
                TW_SN_VFMUL(ft3, ft0, ft1)
                TW_SN_REPEAT("%[times]", 1)
                TW_SN_VFMAC(ft3, ft0, ft1)
                "fsd ft3, 0(%[lanes])\n\t"
                "flw ft3, 0(%[lanes])\n\t"
                "flw fa3, 4(%[lanes])\n\t"
                "fadd.s ft3, ft3, fa3\n\t"
                "flw fa3, 0(%[c])\n\t"
                "fadd.s ft3, ft3, fa3\n\t"
                "fsw ft3, 0(%[y])\n\t"
                : [y] "+r"(to), [c] "+r"(from)
                : [times] "r"(times), [lanes] "r"(lanes)
                : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
                    "fa6", "fa7", "ft8", "ft9", "fs2", "memory");
            to += 1;
            from += 1;
        }
        to += y_next;
        from += c_next;
    }
    tw_sn_off();
    (void)high;
    (void)low;
    return 0;
}

/* Whether streams can bring all of it. */
TW_KERNEL int tw_sn_f32_products_none_11_fits(const tw_sn_products *p, const float *a, const float *b)
{
    const int32_t products = p->run * p->runs;
    const int32_t odd = (p->run | ((p->rows > 1) ? p->a_row : 0) | p->a_run | p->b_output | p->b_run) & 1;
    return tw_sn_near(a) && tw_sn_near(b) && !odd && (p->b_element == 1) && (products >= 4);
}
#endif

/* y = clip(a . b + c). `lanes`: 64 bytes of this core's own. */
TW_SN_APART void tw_sn_f32_products_none_11_at(const tw_sn_products *p, float low, float high, const float *a,
        const float *b, const float *c, float *y, void *lanes)
{
#ifdef TW_SN_STREAMS
    if (p->rows > 0 && p->outputs > 0 && tw_sn_f32_products_none_11_fits(p, a, b)) {
        const int32_t at_once = ((p->runs == 1) || (p->b_run == (p->run * p->b_element))) ? p->rows : 1;
        float wild = 0;
        for (int32_t m = 0; m < p->rows; m += at_once) {
            int32_t n = 0;
            if ((p->outputs - n) >= 8) {
                const int32_t blocks = ((p->outputs - n) / 8);
                wild += tw_sn_f32_products_none_11_8(p, at_once, blocks, low, high, a + (m * p->a_row), b
                    + (n * p->b_output), c + (m * p->c_row + n * p->c_output), y + ((m * p->y_row) + (n * p->y_output)),
                    (double *)lanes);
                n += blocks * 8;
            }
            if ((p->outputs - n) >= 4) {
                const int32_t blocks = ((p->outputs - n) / 4);
                wild += tw_sn_f32_products_none_11_4(p, at_once, blocks, low, high, a + (m * p->a_row), b
                    + (n * p->b_output), c + (m * p->c_row + n * p->c_output), y + ((m * p->y_row) + (n * p->y_output)),
                    (double *)lanes);
                n += blocks * 4;
            }
            if ((p->outputs - n) >= 2) {
                const int32_t blocks = ((p->outputs - n) / 2);
                wild += tw_sn_f32_products_none_11_2(p, at_once, blocks, low, high, a + (m * p->a_row), b
                    + (n * p->b_output), c + (m * p->c_row + n * p->c_output), y + ((m * p->y_row) + (n * p->y_output)),
                    (double *)lanes);
                n += blocks * 2;
            }
            if ((p->outputs - n) >= 1) {
                const int32_t blocks = ((p->outputs - n) / 1);
                wild += tw_sn_f32_products_none_11_1(p, at_once, blocks, low, high, a + (m * p->a_row), b
                    + (n * p->b_output), c + (m * p->c_row + n * p->c_output), y + ((m * p->y_row) + (n * p->y_output)),
                    (double *)lanes);
                n += blocks * 1;
            }
        }
        if (wild == wild) {
            return;
        }
    }
#endif
    (void)lanes;
    tw_sn_f32_products_none_11_plain(p, low, high, a, b, c, y);
}

/* The same of what a call says. */
TW_KERNEL void tw_sn_f32_products_none_11(const tw_sn_products p, float low, float high, const float *a, const float *b,
        const float *c, float *y, void *lanes)
{
    tw_sn_f32_products_none_11_at(&p, low, high, a, b, c, y, lanes);
}

/* y = clip(a . b + c), where b and c are float32 already: 8 rows of a at a time are widened, their results rounded once.
 * `scratch`: 64 bytes, and float32 for the elements of those rows, of a and of y. */
TW_SN_APART void tw_sn_f32_products_none_11_f16(const tw_sn_products p, float low, float high, const uint16_t *a,
        const float *b, const float *c, uint16_t *y, void *scratch)
{
    const int32_t depth = p.run * p.runs;
    const int32_t at_once = (p.rows < 8) ? p.rows : 8;
    float *const wide = (float *)scratch + 16;
    float *const results = wide + (at_once * depth);
    tw_sn_products q = p;
    q.run = q.a_row = depth;
    q.runs = 1;
    q.a_run = q.b_run = 0;
    q.y_row = p.outputs;
    q.y_output = 1;
    for (int32_t m = 0; m < p.rows; m += at_once) {
        q.rows = ((p.rows - m) < at_once) ? (p.rows - m) : at_once;
        tw_sn_f16_mode(3u);
        for (int32_t r = 0; r < q.rows; ++r) {
            tw_sn_f16_widen(a + ((m + r) * p.a_row), (p.runs == 1) ? 1 : p.a_run, depth, wide + (r * depth));
        }
        tw_sn_f16_mode(0u);
        tw_sn_f32_products_none_11_at(&q, low, high, wide, b, c + (m * p.c_row), results, scratch);
        tw_sn_f16_mode(3u);
        for (int32_t r = 0; r < q.rows; ++r) {
            tw_sn_f16_narrow(results + (r * p.outputs), p.outputs, y + ((m + r) * p.y_row), p.y_output);
        }
        tw_sn_f16_mode(0u);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Gemm
 *   nodes    gemm_f16_0
 *   kernel   snitch.gemm_halves
 *   tiles    tcdm: whole (1)
 *   A        f16[9,32]   l3 [0, 576)         gemm_f16_0_in0
 *   B        f32[12,32]  weights [64, 1600)  gemm_f16_0.B
 *   C        f32[12]     weights [16, 64)    gemm_f16_0.C
 *   Y        f16[9,12]   l3 [576, 792)       gemm_f16_0_out0
 *   scratch  u8[6912]    tcdm [2376, 9288)
 *   A        f16[9,32]   tcdm [0, 576)       resident
 *   B        f32[12,32]  tcdm [576, 2112)    resident
 *   C        f32[12]     tcdm [2112, 2160)   resident
 *   Y        f16[9,12]   tcdm [2160, 2376)   resident
 */

/* Brings A from l3. */
static void net_0_gemm_fetch_a(uint8_t *l3, tw_slot *slot)
{
    const uint8_t *const far = l3 + IN_GEMM_F16_0_IN0;
    tw_transfer(slot, slot->bytes, far, 576, 1, 0, 0);
}

/* Brings B from weights. */
static void net_0_gemm_fetch_b(const uint8_t *weights, tw_slot *slot)
{
    const uint8_t *const far = weights + GEMM_0_B;
    tw_transfer(slot, slot->bytes, far, 1536, 1, 0, 0);
}

/* Brings C from weights. */
static void net_0_gemm_fetch_c(const uint8_t *weights, tw_slot *slot)
{
    const uint8_t *const far = weights + GEMM_0_C;
    tw_transfer(slot, slot->bytes, far, 48, 1, 0, 0);
}

/* Takes Y to l3. */
static void net_0_gemm_store_y(uint8_t *l3, tw_slot *slot)
{
    uint8_t *const far = l3 + GEMM_0_OUT;
    tw_transfer(slot, far, slot->bytes, 216, 1, 0, 0);
}

/* Computes this core's share, along loop n. */
static void net_0_gemm_compute(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *y, uint8_t *tcdm)
{
    const tw_range mine = tw_share((tw_range){0, 12}, 1);
    if (mine.low < mine.high) {
        const tw_span b_axis_0 = tw_span_inside(mine.low, mine.high);
        const tw_span c_axis_0 = tw_span_inside(mine.low, mine.high);
        const tw_span y_axis_1 = tw_span_inside(mine.low, mine.high);
        const uint16_t *const my_a = (const uint16_t *)a;
        const float *const my_b = (const float *)(b + (128 * b_axis_0.low));
        const float *const my_c = (const float *)(c + (4 * c_axis_0.low));
        uint16_t *const my_y = (uint16_t *)(y + (2 * y_axis_1.low));
        uint8_t *const scratch = tcdm + GEMM_0_SCRATCH + (1152 * (int32_t)tw_rt_core());
        tw_sn_f32_products_none_11_f16((tw_sn_products){
            .rows = 9, .outputs = y_axis_1.extent, .run = 32, .runs = 1, .a_row = 32, .a_run = 0, .b_output = 32,
            .b_run = 0, .b_element = 1, .c_row = 0, .c_output = 1, .y_row = 12, .y_output = 1,
        }, -INFINITY, INFINITY, my_a, my_b, my_c, my_y, scratch);
        tw_charge(5788u, mine.high - mine.low, 2);
    }
}

TW_STEP void net_0_gemm(uint8_t *l3, uint8_t *tcdm, const uint8_t *weights)
{
    tw_rt_charge(8775u);
    tw_queue copies = {.started = 0};
    tw_slot a[1] = {{.bytes = tcdm + GEMM_0_A_TCDM_0, .queue = &copies}};
    tw_slot b[1] = {{.bytes = tcdm + GEMM_0_B_TCDM_0, .queue = &copies}};
    tw_slot c[1] = {{.bytes = tcdm + GEMM_0_C_TCDM_0, .queue = &copies}};
    tw_slot y[1] = {{.bytes = tcdm + GEMM_0_Y_TCDM_0, .queue = &copies}};
    if (tw_rt_is_dma_core()) {
        net_0_gemm_fetch_a(l3, &a[0]);
        net_0_gemm_fetch_b(weights, &b[0]);
        net_0_gemm_fetch_c(weights, &c[0]);
        tw_arrived(&a[0]);
        tw_arrived(&b[0]);
        tw_arrived(&c[0]);
    }
    tw_rt_barrier();
    net_0_gemm_compute(a[0].bytes, b[0].bytes, c[0].bytes, y[0].bytes, tcdm);
    tw_rt_barrier();
    if (tw_rt_is_dma_core()) {
        net_0_gemm_store_y(l3, &y[0]);
        tw_arrived(&y[0]);
    }
}
