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

#ifndef TW_XPULP /* whether kernels may use the cores' own instructions; -DTW_XPULP=0 for other machines */
#  define TW_XPULP 1
#endif

#define TW_TRANSFERS 16u

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

/* What a depthwise layer of floats has beside its windows: elements between neighbours. */
typedef struct {
    int32_t x_channel;
    int32_t y_channel;
    int32_t w_channel;
    int32_t w_tap;
    float low;
    float high;
} tw_xp_lane_floats;

/* Instructions of Xpulp (RI5CY's encodings) that kernels use, each beside portable C with the same result.
 * Define TW_XPULP for cores that have them; assemblers need not know them. */
#if defined(__GNUC__) /* what is rare does not take registers of what is not */
#  define TW_XP_APART static __attribute__((noinline, unused))
#else
#  define TW_XP_APART static
#endif
#if defined(TW_XPULP) && TW_XPULP && defined(__riscv)
#  define TW_XP_ASM 1
/* lp.setup: what follows, `count` instructions of four bytes, runs as often as operand [trips] says, once at least. */
#  define TW_XP_LOOP(count) \
    ".option push\n\t.option norvc\n\t.balign 4\n\t.insn i 0x7b, 4, x0, %[trips], 2 * (" #count ")\n\t"
#  define TW_XP_LOOP_END ".option pop"
/* Two of them, one inside the other: [inner] times the first `count` instructions, then `rest` more, two at least or
 * one and nothing around it; all of that [outer] times. */
#  define TW_XP_LOOPS(count, rest) \
    ".option push\n\t.option norvc\n\t.balign 4\n\t" \
    ".insn i 0x7b, 4, x1, %[outer], 2 * (1 + " #count " + " #rest ")\n\t" \
    ".insn i 0x7b, 4, x0, %[inner], 2 * (" #count ")\n\t"
/* p.lw: a word from rs1, which then moves by a number of bytes, or by what a register holds. */
#  define TW_XP_LW(rd, rs1, bytes) ".insn i 0x0b, 2, " #rd ", " #rs1 ", " #bytes "\n\t"
#  define TW_XP_LW_BY(rd, rs1, rs2) ".insn r 0x0b, 7, 0x10, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* p.lb, p.lbu, p.sb, p.sw: the same for bytes and for stores, moving by what a register holds. */
#  define TW_XP_LB_BY(rd, rs1, rs2) ".insn r 0x0b, 7, 0x00, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_LBU_BY(rd, rs1, rs2) ".insn r 0x0b, 7, 0x20, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SB_BY(rs2, rs1, rs3) ".insn r 0x2b, 4, 0x00, " #rs3 ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SW_BY(rs2, rs1, rs3) ".insn r 0x2b, 6, 0x00, " #rs3 ", " #rs1 ", " #rs2 "\n\t"
/* Four products of bytes of rs1 and rs2, added to rd: both signed, both unsigned, rs1 unsigned and rs2 signed. */
#  define TW_XP_SDOTSP(rd, rs1, rs2) ".insn r 0x57, 1, 0x5c, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SDOTUP(rd, rs1, rs2) ".insn r 0x57, 1, 0x50, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SDOTUSP(rd, rs1, rs2) ".insn r 0x57, 1, 0x54, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* p.mac, p.max, p.min */
#  define TW_XP_MAC(rd, rs1, rs2) ".insn r 0x33, 0, 0x21, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_MAX(rd, rs1, rs2) ".insn r 0x33, 6, 0x02, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_MIN(rd, rs1, rs2) ".insn r 0x33, 4, 0x02, " #rd ", " #rs1 ", " #rs2 "\n\t"

/* p.clip, p.clipu: between -128 and 127, between 0 and 255. */
#  define TW_XP_CLIP_I8(rd, rs1) ".insn r 0x33, 1, 0x0a, " #rd ", " #rs1 ", x8\n\t"
#  define TW_XP_CLIP_U8(rd, rs1) ".insn r 0x33, 2, 0x0a, " #rd ", " #rs1 ", x9\n\t"
/* pv.shuffle2.b, pv.pack.h, and what every core has. */
#  define TW_XP_MV(rd, rs1) "mv " #rd ", " #rs1 "\n\t"
#  define TW_XP_ADD(rd, rs1, rs2) "add " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_AND(rd, rs1, rs2) "and " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SRA(rd, rs1, rs2) "sra " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SLL(rd, rs1, rs2) "sll " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SHUFFLE2(rd, rs1, rs2) ".insn r 0x57, 1, 0x64, " #rd ", " #rs1 ", " #rs2 "\n\t"
/* pv.packlo.b, pv.packhi.b: the lowest bytes of rs1 and rs2, rs2's below, into the lower or the upper half of rd;
 * pv.add.b: four sums of bytes; p.addNr: rd plus rs1, shifted to the right by rs2. */
#  define TW_XP_PACK_LOW(rd, rs1, rs2) ".insn r 0x57, 1, 0x70, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_PACK_HIGH(rd, rs1, rs2) ".insn r 0x57, 1, 0x6c, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_ADD_BYTES(rd, rs1, rs2) ".insn r 0x57, 1, 0x00, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_ADD_SRA(rd, rs1, rs2) ".insn r 0x5b, 2, 0x20, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_PACK(rd, rs1, rs2) ".insn r 0x57, 0, 0x68, " #rd ", " #rs1 ", " #rs2 "\n\t"

/* A word from any address: compilers take unaligned ones apart, this core reads them in one instruction. */
typedef struct __attribute__((may_alias)) {
    uint8_t bytes[4];
} tw_xp_four;

TW_KERNEL uint32_t tw_xp_load(const void *from)
{
    uint32_t word;
    __asm__("lw %0, %1" : "=r"(word) : "m"(*(const tw_xp_four *)from));
    return word;
}

TW_KERNEL void tw_xp_store(void *to, uint32_t word)
{
    __asm__("sw %1, %0" : "=m"(*(tw_xp_four *)to) : "r"(word));
}

/* A byte to where a pointer points, which then moves by a number of bytes. */
TW_KERNEL void tw_xp_store_by(uint8_t **to, uint8_t value, int32_t bytes)
{
    __asm__ volatile(TW_XP_SB_BY(%1, %0, %2) : "+r"(*to) : "r"(value), "r"(bytes) : "memory");
}

TW_KERNEL int32_t tw_xp_sdot_ss(int32_t sum, uint32_t a, uint32_t b)
{
    __asm__(TW_XP_SDOTSP(%[sum], %[a], %[b]) : [sum] "+r"(sum) : [a] "r"(a), [b] "r"(b));
    return sum;
}

TW_KERNEL int32_t tw_xp_sdot_uu(int32_t sum, uint32_t a, uint32_t b)
{
    __asm__(TW_XP_SDOTUP(%[sum], %[a], %[b]) : [sum] "+r"(sum) : [a] "r"(a), [b] "r"(b));
    return sum;
}

TW_KERNEL int32_t tw_xp_sdot_us(int32_t sum, uint32_t a, uint32_t b)
{
    __asm__(TW_XP_SDOTUSP(%[sum], %[a], %[b]) : [sum] "+r"(sum) : [a] "r"(a), [b] "r"(b));
    return sum;
}

/* pv.shuffle2.b: byte i is byte `choice[i] & 3` of b where bit 2 of choice[i] is set, else of a. */
TW_KERNEL uint32_t tw_xp_shuffle(uint32_t a, uint32_t b, uint32_t choice)
{
    __asm__(TW_XP_SHUFFLE2(%0, %1, %2) : "+r"(a) : "r"(b), "r"(choice));
    return a;
}

/* pv.pack.h: the lower half of `low`, below the lower half of `high`. */
TW_KERNEL uint32_t tw_xp_pack(uint32_t low, uint32_t high)
{
    uint32_t word;
    __asm__(TW_XP_PACK(%0, %1, %2) : "=r"(word) : "r"(high), "r"(low));
    return word;
}

/* pv.max.b, pv.maxu.b: the larger of each pair of bytes. */
TW_KERNEL uint32_t tw_xp_max_i8(uint32_t a, uint32_t b)
{
    uint32_t word;
    __asm__(".insn r 0x57, 1, 0x18, %0, %1, %2" : "=r"(word) : "r"(a), "r"(b));
    return word;
}

TW_KERNEL uint32_t tw_xp_max_u8(uint32_t a, uint32_t b)
{
    uint32_t word;
    __asm__(".insn r 0x57, 1, 0x1c, %0, %1, %2" : "=r"(word) : "r"(a), "r"(b));
    return word;
}

TW_KERNEL int32_t tw_xp_clip_i8(int32_t value)
{
    int32_t clipped;
    __asm__(TW_XP_CLIP_I8(%0, %1) : "=r"(clipped) : "r"(value));
    return clipped;
}

TW_KERNEL int32_t tw_xp_clip_u8(int32_t value)
{
    int32_t clipped;
    __asm__(TW_XP_CLIP_U8(%0, %1) : "=r"(clipped) : "r"(value));
    return clipped;
}

TW_KERNEL int32_t tw_xp_limited(int32_t value, int32_t low, int32_t high)
{
    __asm__(TW_XP_MAX(%[value], %[value], %[low]) TW_XP_MIN(%[value], %[value], %[high])
            : [value] "+&r"(value) : [low] "r"(low), [high] "r"(high));
    return value;
}
#else
TW_KERNEL uint32_t tw_xp_load(const void *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

TW_KERNEL void tw_xp_store(void *to, uint32_t word)
{
    memcpy(to, &word, sizeof word);
}

TW_KERNEL void tw_xp_store_by(uint8_t **to, uint8_t value, int32_t bytes)
{
    **to = value;
    *to += bytes;
}

TW_KERNEL int32_t tw_xp_signed(uint32_t word, int32_t at)
{
    const int32_t byte = (int32_t)((word >> (8 * at)) & 255);
    return (byte < 128) ? byte : (byte - 256);
}

TW_KERNEL int32_t tw_xp_unsigned(uint32_t word, int32_t at)
{
    return (int32_t)((word >> (8 * at)) & 255);
}

TW_KERNEL int32_t tw_xp_wrapped(int32_t sum, int32_t more)
{
    return (int32_t)((uint32_t)sum + (uint32_t)more);
}

TW_KERNEL int32_t tw_xp_sdot_ss(int32_t sum, uint32_t a, uint32_t b)
{
    for (int32_t i = 0; i < 4; ++i) {
        sum = tw_xp_wrapped(sum, tw_xp_signed(a, i) * tw_xp_signed(b, i));
    }
    return sum;
}

TW_KERNEL int32_t tw_xp_sdot_uu(int32_t sum, uint32_t a, uint32_t b)
{
    for (int32_t i = 0; i < 4; ++i) {
        sum = tw_xp_wrapped(sum, tw_xp_unsigned(a, i) * tw_xp_unsigned(b, i));
    }
    return sum;
}

TW_KERNEL int32_t tw_xp_sdot_us(int32_t sum, uint32_t a, uint32_t b)
{
    for (int32_t i = 0; i < 4; ++i) {
        sum = tw_xp_wrapped(sum, tw_xp_unsigned(a, i) * tw_xp_signed(b, i));
    }
    return sum;
}

TW_KERNEL uint32_t tw_xp_shuffle(uint32_t a, uint32_t b, uint32_t choice)
{
    uint32_t word = 0;
    for (int32_t i = 0; i < 4; ++i) {
        const uint32_t which = choice >> (8 * i);
        word |= ((((which & 4) ? b : a) >> (8 * (which & 3))) & 255) << (8 * i);
    }
    return word;
}

TW_KERNEL uint32_t tw_xp_pack(uint32_t low, uint32_t high)
{
    return (low & 65535) | (high << 16);
}

TW_KERNEL uint32_t tw_xp_max_i8(uint32_t a, uint32_t b)
{
    uint32_t word = 0;
    for (int32_t i = 0; i < 4; ++i) {
        word |= ((tw_xp_signed(a, i) > tw_xp_signed(b, i)) ? a : b) & (UINT32_C(255) << (8 * i));
    }
    return word;
}

TW_KERNEL uint32_t tw_xp_max_u8(uint32_t a, uint32_t b)
{
    uint32_t word = 0;
    for (int32_t i = 0; i < 4; ++i) {
        word |= ((tw_xp_unsigned(a, i) > tw_xp_unsigned(b, i)) ? a : b) & (UINT32_C(255) << (8 * i));
    }
    return word;
}

TW_KERNEL int32_t tw_xp_limited(int32_t value, int32_t low, int32_t high)
{
    return (value < low) ? low : ((value > high) ? high : value);
}

TW_KERNEL int32_t tw_xp_clip_i8(int32_t value)
{
    return tw_xp_limited(value, -128, 127);
}

TW_KERNEL int32_t tw_xp_clip_u8(int32_t value)
{
    return tw_xp_limited(value, 0, 255);
}
#endif

/* The limits of a result. */
typedef struct {
    int32_t low;
    int32_t high;
    int32_t zero_point;
} tw_xp_limits;

/* clamp(rne(value), low, high), the limits below 2^22. */
#if defined(TW_XP_ASM) && defined(__riscv_flen)
TW_KERNEL int32_t tw_xp_nearest(float value)
{
    int32_t whole;
    __asm__("fcvt.w.s %0, %1, rne" : "=r"(whole) : "f"(value));
    return whole;
}

TW_KERNEL int32_t tw_xp_rounded(float value, int32_t low, int32_t high)
{
    return tw_xp_limited(tw_xp_nearest(value), low, high);
}
#else
/* Adding 3 * 2^22 leaves no bit for a fraction, so that the addition rounds; the integer is in the low bits. */
TW_KERNEL int32_t tw_xp_rounded(float value, int32_t low, int32_t high)
{
    const float least = (float)low;
    const float most = (float)high;
    const float inside = (value < least) ? least : ((value > most) ? most : value);
    const union { float value; int32_t bits; } sum = {.value = inside + 12582912.0f};
    return sum.bits - INT32_C(0x4b400000);
}

/* rne(value) where that is small; what is larger stays larger than any result. */
TW_KERNEL int32_t tw_xp_nearest(float value)
{
    return tw_xp_rounded(value, -1024, 1024);
}
#endif

/* A float32 that is stored among integers. */
TW_KERNEL float tw_xp_scale(const int32_t *bits)
{
    float scale;
#if defined(TW_XP_ASM) && defined(__riscv_flen)
    __asm__("flw %0, %1" : "=f"(scale) : "m"(*bits));
#else
    memcpy(&scale, bits, sizeof scale);
#endif
    return scale;
}

/* The first `lanes` bytes of a word. */
TW_KERNEL uint32_t tw_xp_load_lanes(const uint8_t *from, int32_t lanes)
{
    if (lanes >= 4) {
        return tw_xp_load(from);
    }
    uint32_t word = 0;
    for (int32_t i = 0; i < lanes; ++i) {
        word |= (uint32_t)from[i] << (8 * i);
    }
    return word;
}

TW_KERNEL void tw_xp_store_lanes(uint8_t *to, uint32_t word, int32_t lanes)
{
    if (lanes >= 4) {
        tw_xp_store(to, word);
        return;
    }
    for (int32_t i = 0; i < lanes; ++i) {
        to[i] = (uint8_t)(word >> (8 * i));
    }
}

/* Copies a few bytes, or fills them with one value. */
TW_KERNEL void tw_xp_copy(uint8_t *to, const uint8_t *from, int32_t bytes)
{
    for (; bytes >= 4; bytes -= 4) {
        tw_xp_store(to, tw_xp_load(from));
        to += 4;
        from += 4;
    }
    for (; bytes > 0; --bytes) {
        *to++ = *from++;
    }
}

TW_KERNEL void tw_xp_fill(uint8_t *to, uint8_t value, int32_t bytes)
{
    for (; bytes > 0; --bytes) {
        *to++ = value;
    }
}

/* What a layer of sliding windows is called with, and which taps of a window lie inside the input tile. */
typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t rows;
    int32_t columns;
    int32_t outputs;
    /* of the input tile; what lies outside is padding */
    int32_t in_rows;
    int32_t in_columns;
    int32_t row_taps;
    int32_t column_taps;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t column_dilation;
    /* padding before the input tile */
    int32_t top;
    int32_t left;
    int32_t channels; /* bytes of one tap */
    int32_t joined; /* whether the taps of a row are neighbours */
    /* bytes between neighbours */
    int32_t x_batch;
    int32_t x_row;
    int32_t x_column;
    int32_t y_batch;
    int32_t y_row;
    int32_t y_column;
    int32_t column; /* bytes of one window, a multiple of four */
    uint32_t padding; /* what a position outside holds, as often as a word has room for it */
    tw_xp_limits to;
} tw_xp_windows;

/* How many taps lie before position `end`. */
TW_KERNEL int32_t tw_xp_taps_before(int32_t start, int32_t taps, int32_t dilation, int32_t end)
{
    const int32_t room = end - start;
    const int32_t count = (room <= 0) ? 0 : ((dilation == 1) ? room : (((room - 1) / dilation) + 1));
    return (count < taps) ? count : taps;
}

/* How many taps lie at positions 0 to extent - 1. */
TW_KERNEL int32_t tw_xp_taps_inside(int32_t start, int32_t taps, int32_t dilation, int32_t extent)
{
    return tw_xp_taps_before(start, taps, dilation, extent) - tw_xp_taps_before(start, taps, dilation, 0);
}

/* The same taps, one bit for each. */
TW_KERNEL uint32_t tw_xp_inside(int32_t start, int32_t taps, int32_t dilation, int32_t extent)
{
    const uint32_t all = (UINT32_C(2) << (taps - 1)) - 1;
    if ((start >= 0) && ((start + ((taps - 1) * dilation)) < extent)) {
        return all;
    }
    const int32_t first = tw_xp_taps_before(start, taps, dilation, 0);
    const int32_t last = tw_xp_taps_before(start, taps, dilation, extent);
    return (last == 0) ? 0 : (((UINT32_C(2) << (last - 1)) - 1) & ~((UINT32_C(1) << (first & 31)) - 1));
}

/* The fused activation; NaN stays NaN. */
TW_KERNEL float tw_xp_f32_finish_none(float value, float low, float high)
{
    (void)low;
    (void)high;
    return value;
}

#if defined(TW_XP_ASM) && defined(__riscv_flen)
#  define TW_XP_FPU 1 /* the core's own float instructions, beside C that any machine runs */
#endif

/* 0 where a result of arithmetic is negative. Its NaN has no sign, so that an integer's order keeps it. */
TW_KERNEL float tw_xp_f32_relu(float value)
{
#ifdef TW_XP_FPU
    union { float number; uint32_t word; } bits = {.number = value};
    __asm__(TW_XP_MAX(%0, %0, x0) : "+r"(bits.word));
    return bits.number;
#else
    return (value < 0.0f) ? 0.0f : value;
#endif
}

/* a b + c: rounded once where that is one instruction. */
TW_KERNEL float tw_xp_f32_fma(float a, float b, float c)
{
#if defined(TW_XP_FPU) && defined(__clang__)
    /* Not the built-in function: clang calls a library, which takes floats for words before they are stored. */
    float sum;
    __asm__("fmadd.s %0, %1, %2, %3" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
    return sum;
#elif defined(TW_XP_FPU)
    return __builtin_fmaf(a, b, c); /* which gcc puts where it waits for nothing */
#else
    return (a * b) + c;
#endif
}

/* The larger of a value and a limit; the limit where the value is NaN. */
TW_KERNEL float tw_xp_f32_max(float value, float limit)
{
#ifdef TW_XP_FPU
    float chosen; /* not the built-in function: gcc 12 calls a library */
    __asm__("fmax.s %0, %1, %2" : "=f"(chosen) : "f"(value), "f"(limit));
    return chosen;
#else
    return (value > limit) ? value : limit;
#endif
}

/* The smaller of a value and a limit; the limit where the value is NaN. */
TW_KERNEL float tw_xp_f32_min(float value, float limit)
{
#ifdef TW_XP_FPU
    float chosen;
    __asm__("fmin.s %0, %1, %2" : "=f"(chosen) : "f"(value), "f"(limit));
    return chosen;
#else
    return (value < limit) ? value : limit;
#endif
}

TW_KERNEL uint32_t tw_xp_f32_bits(float value)
{
    const union { float from; uint32_t to; } bits = {.from = value};
    return bits.to;
}

TW_KERNEL float tw_xp_f32_from(uint32_t value)
{
    const union { uint32_t from; float to; } bits = {.from = value};
    return bits.to;
}

TW_KERNEL float tw_xp_f32_abs(float value)
{
#ifdef TW_XP_FPU
    return __builtin_fabsf(value);
#else
    return tw_xp_f32_from(tw_xp_f32_bits(value) & UINT32_C(0x7fffffff));
#endif
}

/* The magnitude of one, the sign of the other. */
TW_KERNEL float tw_xp_f32_signed(float magnitude, float sign)
{
#ifdef TW_XP_FPU
    return __builtin_copysignf(magnitude, sign);
#else
    return tw_xp_f32_from((tw_xp_f32_bits(magnitude) & UINT32_C(0x7fffffff))
        | (tw_xp_f32_bits(sign) & UINT32_C(0x80000000)));
#endif
}

/* Channel by channel: its filter stays in registers along a row, two neighbouring windows share what they read. */
TW_KERNEL void tw_xp_f32_depthwise_none_3_3_1_1_1(const tw_xp_windows p, const tw_xp_lane_floats f, const float *x,
        const float *w, const float *b, float *y)
{
    const int32_t column = p.x_column, row = p.row_dilation * p.x_row, step = p.x_column;
    for (int32_t o = 0; o < p.outputs; ++o) {
        const float *const wo = w + (o * f.w_channel);
        const float bias = b ? b[o] : 0.0f;
        const float w0 = wo[0];
        const float w1 = wo[f.w_tap];
        const float w2 = wo[2 * f.w_tap];
        const float w3 = wo[3 * f.w_tap];
        const float w4 = wo[4 * f.w_tap];
        const float w5 = wo[5 * f.w_tap];
        const float w6 = wo[6 * f.w_tap];
        const float w7 = wo[7 * f.w_tap];
        const float w8 = wo[8 * f.w_tap];
        for (int32_t n = 0; n < p.batches; ++n) {
            for (int32_t i = 0; i < p.rows; ++i) {
                const int32_t top = (i * p.row_stride) - p.top;
                int32_t from = (o * f.x_channel) + (n * p.x_batch) + (top * p.x_row) - (p.left * p.x_column);
                float *to = y + ((o * f.y_channel) + (n * p.y_batch) + (i * p.y_row));
                int32_t left = p.columns;
                const int32_t whole = (top >= 0) && (top + (2 * p.row_dilation) < p.in_rows);
                int32_t start = -p.left;
                while (left > 0) {
                    if (left >= 2 && whole && start >= 0 && start + 3 < p.in_columns) {
                        const float *const at = x + from;
                        float s0 = bias;
                        float s1 = bias;
                        const float x0_0 = at[0];
                        const float x0_1 = at[column];
                        const float x0_2 = at[2 * column];
                        const float x0_3 = at[3 * column];
                        s0 = tw_xp_f32_fma(x0_0, w0, s0);
                        s1 = tw_xp_f32_fma(x0_1, w0, s1);
                        s0 = tw_xp_f32_fma(x0_1, w1, s0);
                        s1 = tw_xp_f32_fma(x0_2, w1, s1);
                        s0 = tw_xp_f32_fma(x0_2, w2, s0);
                        s1 = tw_xp_f32_fma(x0_3, w2, s1);
                        const float x1_0 = at[row];
                        const float x1_1 = at[row + column];
                        const float x1_2 = at[row + (2 * column)];
                        const float x1_3 = at[row + (3 * column)];
                        s0 = tw_xp_f32_fma(x1_0, w3, s0);
                        s1 = tw_xp_f32_fma(x1_1, w3, s1);
                        s0 = tw_xp_f32_fma(x1_1, w4, s0);
                        s1 = tw_xp_f32_fma(x1_2, w4, s1);
                        s0 = tw_xp_f32_fma(x1_2, w5, s0);
                        s1 = tw_xp_f32_fma(x1_3, w5, s1);
                        const float x2_0 = at[2 * row];
                        const float x2_1 = at[(2 * row) + column];
                        const float x2_2 = at[(2 * row) + (2 * column)];
                        const float x2_3 = at[(2 * row) + (3 * column)];
                        s0 = tw_xp_f32_fma(x2_0, w6, s0);
                        s1 = tw_xp_f32_fma(x2_1, w6, s1);
                        s0 = tw_xp_f32_fma(x2_1, w7, s0);
                        s1 = tw_xp_f32_fma(x2_2, w7, s1);
                        s0 = tw_xp_f32_fma(x2_2, w8, s0);
                        s1 = tw_xp_f32_fma(x2_3, w8, s1);
                        to[0] = tw_xp_f32_finish_none(s0, f.low, f.high);
                        to[p.y_column] = tw_xp_f32_finish_none(s1, f.low, f.high);
                        from += 2 * step;
                        to += 2 * p.y_column;
                        left -= 2;
                        start += 2;
                    } else if (whole && start >= 0 && start + 2 < p.in_columns) {
                        const float *const at = x + from;
                        float s0 = bias;
                        const float x0_0 = at[0];
                        const float x0_1 = at[column];
                        const float x0_2 = at[2 * column];
                        s0 = tw_xp_f32_fma(x0_0, w0, s0);
                        s0 = tw_xp_f32_fma(x0_1, w1, s0);
                        s0 = tw_xp_f32_fma(x0_2, w2, s0);
                        const float x1_0 = at[row];
                        const float x1_1 = at[row + column];
                        const float x1_2 = at[row + (2 * column)];
                        s0 = tw_xp_f32_fma(x1_0, w3, s0);
                        s0 = tw_xp_f32_fma(x1_1, w4, s0);
                        s0 = tw_xp_f32_fma(x1_2, w5, s0);
                        const float x2_0 = at[2 * row];
                        const float x2_1 = at[(2 * row) + column];
                        const float x2_2 = at[(2 * row) + (2 * column)];
                        s0 = tw_xp_f32_fma(x2_0, w6, s0);
                        s0 = tw_xp_f32_fma(x2_1, w7, s0);
                        s0 = tw_xp_f32_fma(x2_2, w8, s0);
                        to[0] = tw_xp_f32_finish_none(s0, f.low, f.high);
                        from += step;
                        to += p.y_column;
                        left -= 1;
                        start += 1;
                    } else {
                        float sum = bias;
                        if ((uint32_t)top < (uint32_t)p.in_rows) {
                            if ((uint32_t)start < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[from], w0, sum);
                            }
                            if ((uint32_t)(start + 1) < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[from + column], w1, sum);
                            }
                            if ((uint32_t)(start + 2) < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[from + (2 * column)], w2, sum);
                            }
                        }
                        if ((uint32_t)(top + p.row_dilation) < (uint32_t)p.in_rows) {
                            if ((uint32_t)start < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[from + row], w3, sum);
                            }
                            if ((uint32_t)(start + 1) < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[from + row + column], w4, sum);
                            }
                            if ((uint32_t)(start + 2) < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[from + row + (2 * column)], w5, sum);
                            }
                        }
                        if ((uint32_t)(top + (2 * p.row_dilation)) < (uint32_t)p.in_rows) {
                            if ((uint32_t)start < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[from + (2 * row)], w6, sum);
                            }
                            if ((uint32_t)(start + 1) < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[from + (2 * row) + column], w7, sum);
                            }
                            if ((uint32_t)(start + 2) < (uint32_t)p.in_columns) {
                                sum = tw_xp_f32_fma(x[from + (2 * row) + (2 * column)], w8, sum);
                            }
                        }
                        *to = tw_xp_f32_finish_none(sum, f.low, f.high);
                        from += step;
                        to += p.y_column;
                        left -= 1;
                        start += 1;
                    }
                }
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Conv
 *   nodes    conv_depthwise_0
 *   kernel   siracusa.conv_depthwise_f32
 *   tiles    l1: whole (1)
 *   X        f32[1,8,19,23]  l2 [0, 13984)      conv_depthwise_0_in0
 *   W        f32[9,8]        weights [48, 336)  conv_depthwise_0.W
 *   B        f32[8]          weights [16, 48)   conv_depthwise_0.B
 *   Y        f32[1,8,19,23]  l2 [13984, 27968)  conv_depthwise_0_out0
 *   X        f32[1,8,19,23]  l1 [0, 13984)      resident
 *   W        f32[9,8]        l1 [13984, 14272)  resident
 *   B        f32[8]          l1 [14272, 14304)  resident
 *   Y        f32[1,8,19,23]  l1 [14304, 28288)  resident
 */

/* Brings X from l2. */
static void net_0_conv_fetch_x(uint8_t *l2, tw_slot *slot)
{
    const uint8_t *const far = l2 + IN_CONV_DEPTHWISE_0_IN0;
    tw_transfer(slot, slot->bytes, far, 13984, 1, 0, 0);
}

/* Brings W from weights. */
static void net_0_conv_fetch_w(const uint8_t *weights, tw_slot *slot)
{
    const uint8_t *const far = weights + CONV_0_W;
    tw_transfer(slot, slot->bytes, far, 288, 1, 0, 0);
}

/* Brings B from weights. */
static void net_0_conv_fetch_b(const uint8_t *weights, tw_slot *slot)
{
    const uint8_t *const far = weights + CONV_0_B;
    tw_transfer(slot, slot->bytes, far, 32, 1, 0, 0);
}

/* Takes Y to l2. */
static void net_0_conv_store_y(uint8_t *l2, tw_slot *slot)
{
    uint8_t *const far = l2 + CONV_0_OUT;
    tw_transfer(slot, far, slot->bytes, 13984, 1, 0, 0);
}

/* Computes this core's share, along loop o. */
static void net_0_conv_compute(const uint8_t *x, const uint8_t *w, const uint8_t *b, uint8_t *y)
{
    const tw_range mine = tw_share((tw_range){0, 8}, 1);
    if (mine.low < mine.high) {
        const tw_span x_axis_1 = tw_span_inside(mine.low, mine.high);
        const tw_span w_axis_1 = tw_span_inside(mine.low, mine.high);
        const tw_span b_axis_0 = tw_span_inside(mine.low, mine.high);
        const tw_span y_axis_1 = tw_span_inside(mine.low, mine.high);
        const float *const my_x = (const float *)(x + (1748 * x_axis_1.low));
        const float *const my_w = (const float *)(w + (4 * w_axis_1.low));
        const float *const my_b = (const float *)(b + (4 * b_axis_0.low));
        float *const my_y = (float *)(y + (1748 * y_axis_1.low));
        tw_xp_f32_depthwise_none_3_3_1_1_1((tw_xp_windows){
            .batches = 1, .rows = 19, .columns = 23, .outputs = y_axis_1.extent, .in_rows = 19, .in_columns = 23,
            .top = 1, .left = 1, .x_batch = 3496, .x_row = 23, .x_column = 1, .y_batch = 3496, .y_row = 23,
            .y_column = 1, .row_taps = 3, .column_taps = 3, .row_stride = 1, .column_stride = 1, .row_dilation = 1,
            .column_dilation = 1,
        }, (tw_xp_lane_floats){
            .x_channel = 437, .y_channel = 437, .w_channel = 1, .w_tap = 8, .low = -INFINITY, .high = INFINITY,
        }, my_x, my_w, my_b, my_y);
        tw_charge(20185u, mine.high - mine.low, 1);
    }
}

TW_STEP void net_0_conv(uint8_t *l1, uint8_t *l2, const uint8_t *weights)
{
    tw_rt_charge(1500u);
    tw_queue copies = {.started = 0};
    tw_slot x[1] = {{.bytes = l1 + CONV_0_X_L1_0, .queue = &copies}};
    tw_slot w[1] = {{.bytes = l1 + CONV_0_W_L1_0, .queue = &copies}};
    tw_slot b[1] = {{.bytes = l1 + CONV_0_B_L1_0, .queue = &copies}};
    tw_slot y[1] = {{.bytes = l1 + CONV_0_Y_L1_0, .queue = &copies}};
    if (tw_rt_is_dma_core()) {
        net_0_conv_fetch_x(l2, &x[0]);
        net_0_conv_fetch_w(weights, &w[0]);
        net_0_conv_fetch_b(weights, &b[0]);
        tw_arrived(&x[0]);
        tw_arrived(&w[0]);
        tw_arrived(&b[0]);
    }
    tw_rt_barrier();
    net_0_conv_compute(x[0].bytes, w[0].bytes, b[0].bytes, y[0].bytes);
    tw_rt_barrier();
    if (tw_rt_is_dma_core()) {
        net_0_conv_store_y(l2, &y[0]);
        tw_arrived(&y[0]);
    }
}
