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

/* The bits of the nearest bfloat16, halves to even; NaN stays NaN. */
TW_KERNEL uint16_t tw_bf16_of_f32(float x)
{
    const uint32_t bits = tw_bits_of_f32(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)((bits >> 16) | 0x40u);
    }
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* The float that has these bits. */
TW_KERNEL float tw_f32_of_bits(uint32_t x)
{
    const union { uint32_t bits; float number; } both = {.bits = x};
    return both.number;
}

/* What the bits of a bfloat16 stand for: exact. */
TW_KERNEL float tw_f32_of_bf16(uint16_t x)
{
    return tw_f32_of_bits((uint32_t)x << 16);
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
TW_KERNEL void tw_sn_bf16_mode(uint32_t mode)
{
#ifdef TW_SN_STREAMS
    tw_sn_settle();
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrw 0x800, %0\n\t.option pop" ::"r"(mode) : "memory");
#else
    (void)mode;
#endif
}

/* What there is to do: rows of `count` elements. Steps are in elements. */
typedef struct {
    int32_t rows;
    int32_t count;
    int32_t a_row;
    int32_t a_step;
    int32_t b_row;
    int32_t b_step;
    int32_t y_row;
    int32_t y_step;
} tw_sn_bf16_add_none_rows;

TW_KERNEL float tw_sn_bf16_add_none_one(float a, float b, float low, float high)
{
    const float value = a + b;
    (void)low;
    (void)high;
    return value;
}

#ifdef TW_SN_STREAMS
/* `rows` rows of `words` words, together a multiple of 1. Returns 0, or NaN where minima and maxima may be lost. */
TW_SN_APART float tw_sn_bf16_add_none_streams(const tw_sn_bf16_add_none_rows *p, uint32_t words, uint32_t rows,
        float low, float high, const uint16_t *a, const uint16_t *b, uint16_t *y)
{
    const uint32_t again = words * rows - 1u;
    const int32_t row = (int32_t)(words - 1u) * 8;
    tw_sn_bf16_mode(3u);
    (void)low;
    (void)high;
    tw_sn_settle();
    TW_SN_SET(0, 1, 0);
    TW_SN_SET(0, 2, words - 1u);
    TW_SN_SET(0, 3, rows - 1u);
    TW_SN_SET(0, 6, 8);
    TW_SN_SET(0, 7, p->a_row * 2 - row);
    TW_SN_SET(0, 25, a);
    TW_SN_SET(1, 1, 0);
    TW_SN_SET(1, 2, words - 1u);
    TW_SN_SET(1, 3, rows - 1u);
    TW_SN_SET(1, 6, 8);
    TW_SN_SET(1, 7, p->b_row * 2 - row);
    TW_SN_SET(1, 25, b);
    TW_SN_SET(2, 1, 0);
    TW_SN_SET(2, 2, words - 1u);
    TW_SN_SET(2, 3, rows - 1u);
    TW_SN_SET(2, 6, 8);
    TW_SN_SET(2, 7, p->y_row * 2 - row);
    TW_SN_SET(2, 29, y);
    tw_sn_on();
    __asm__ volatile(
        TW_SN_REPEAT("%[again]", 1)
        TW_SN_VFADD_H(ft2, ft0, ft1)
        : 
        : [again] "r"(again)
        : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "memory");
    tw_sn_written();
    tw_sn_off();
    const float wild = 0;
    tw_sn_bf16_mode(0u);
    return wild;
}

TW_KERNEL int tw_sn_bf16_add_none_near(const uint16_t *a, const uint16_t *b, uint16_t *y)
{
    return tw_sn_near(a) && tw_sn_near(b) && tw_sn_near(y);
}
#endif

TW_KERNEL void tw_sn_bf16_add_none_plain(const tw_sn_bf16_add_none_rows *p, int32_t row, int32_t from, float low,
        float high, const uint16_t *a, const uint16_t *b, uint16_t *y)
{
    for (int32_t i = from; i < p->count; ++i) {
        y[(row * p->y_row)
            + (i * p->y_step)] =
            tw_bf16_of_f32(tw_sn_bf16_add_none_one(tw_f32_of_bf16(a[(row * p->a_row) + (i * p->a_step)]),
            tw_f32_of_bf16(b[(row * p->b_row) + (i * p->b_step)]), low, high));
    }
}

/* y = a + b, element by element. */
TW_SN_APART void tw_sn_bf16_add_none(const tw_sn_bf16_add_none_rows p, float low, float high,
        const uint16_t *a, const uint16_t *b, uint16_t *y)
{
#ifdef TW_SN_STREAMS
    if (p.a_step == 1 && p.b_step == 1 && p.y_step == 1 && (p.count >= 4)) {
        float wild = 0;
        int32_t done = 0;
        if (p.rows >= 1 && ((p.count | p.a_row | p.b_row | p.y_row) & 3) == 0
            && tw_sn_bf16_add_none_near(a, b, y)) {
            done = p.rows / 1 * 1;
            wild = tw_sn_bf16_add_none_streams(&p, (uint32_t)p.count / 4u, (uint32_t)done, low, high, a, b, y);
        }
        for (; done < p.rows; ++done) {
            const uint16_t *const ar = a + done * p.a_row;
            const uint16_t *const br = b + done * p.b_row;
            uint16_t *const yr = y + done * p.y_row;
            int32_t from = 0;
            if (tw_sn_bf16_add_none_near(ar, br, yr)) {
                const uint32_t times = (uint32_t)p.count / 4u;
                wild += tw_sn_bf16_add_none_streams(&p, times * 1u, 1u, low, high, ar, br, yr);
                from = (int32_t)times * 4;
            }
            tw_sn_bf16_add_none_plain(&p, done, from, low, high, a, b, y);
        }
        if (wild == wild) {
            return;
        }
    }
#endif
    for (int32_t row = 0; row < p.rows; ++row) {
        tw_sn_bf16_add_none_plain(&p, row, 0, low, high, a, b, y);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Add
 *   nodes    add_bf16_0
 *   kernel   snitch.add
 *   tiles    tcdm: whole (1)
 *   A        bf16[6,40]  l3 [0, 480)       add_bf16_0_in0
 *   B        bf16[6,40]  l3 [480, 960)     add_bf16_0_in1
 *   Y        bf16[6,40]  l3 [960, 1440)    add_bf16_0_out0
 *   A        bf16[6,40]  tcdm [0, 480)     resident
 *   B        bf16[6,40]  tcdm [480, 960)   resident
 *   Y        bf16[6,40]  tcdm [960, 1440)  resident
 */

/* Brings A from l3. */
static void net_0_add_fetch_a(uint8_t *l3, tw_slot *slot)
{
    const uint8_t *const far = l3 + IN_ADD_BF16_0_IN0;
    tw_transfer(slot, slot->bytes, far, 480, 1, 0, 0);
}

/* Brings B from l3. */
static void net_0_add_fetch_b(uint8_t *l3, tw_slot *slot)
{
    const uint8_t *const far = l3 + IN_ADD_BF16_0_IN1;
    tw_transfer(slot, slot->bytes, far, 480, 1, 0, 0);
}

/* Takes Y to l3. */
static void net_0_add_store_y(uint8_t *l3, tw_slot *slot)
{
    uint8_t *const far = l3 + ADD_0_OUT;
    tw_transfer(slot, far, slot->bytes, 480, 1, 0, 0);
}

/* Computes this core's share, along loop _lead0. */
static void net_0_add_compute(const uint8_t *a, const uint8_t *b, uint8_t *y)
{
    const tw_range mine = tw_share((tw_range){0, 40}, 1);
    if (mine.low < mine.high) {
        const tw_span a_axis_1 = tw_span_inside(mine.low, mine.high);
        const tw_span b_axis_1 = tw_span_inside(mine.low, mine.high);
        const tw_span y_axis_1 = tw_span_inside(mine.low, mine.high);
        const uint16_t *const my_a = (const uint16_t *)(a + (2 * a_axis_1.low));
        const uint16_t *const my_b = (const uint16_t *)(b + (2 * b_axis_1.low));
        uint16_t *const my_y = (uint16_t *)(y + (2 * y_axis_1.low));
        tw_sn_bf16_add_none((tw_sn_bf16_add_none_rows){
            .rows = 6, .count = y_axis_1.extent, .a_row = 40, .a_step = 1, .b_row = 40, .b_step = 1, .y_row = 40,
            .y_step = 1,
        }, -INFINITY, INFINITY, my_a, my_b, my_y);
        tw_charge(2295u, mine.high - mine.low, 5);
    }
}

TW_STEP void net_0_add(uint8_t *l3, uint8_t *tcdm)
{
    tw_rt_charge(2600u);
    tw_queue copies = {.started = 0};
    tw_slot a[1] = {{.bytes = tcdm + ADD_0_A_TCDM_0, .queue = &copies}};
    tw_slot b[1] = {{.bytes = tcdm + ADD_0_B_TCDM_0, .queue = &copies}};
    tw_slot y[1] = {{.bytes = tcdm + ADD_0_Y_TCDM_0, .queue = &copies}};
    if (tw_rt_is_dma_core()) {
        net_0_add_fetch_a(l3, &a[0]);
        net_0_add_fetch_b(l3, &b[0]);
        tw_arrived(&a[0]);
        tw_arrived(&b[0]);
    }
    tw_rt_barrier();
    net_0_add_compute(a[0].bytes, b[0].bytes, y[0].bytes);
    tw_rt_barrier();
    if (tw_rt_is_dma_core()) {
        net_0_add_store_y(l3, &y[0]);
        tw_arrived(&y[0]);
    }
}
