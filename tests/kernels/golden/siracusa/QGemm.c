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

/* One output pixel: its window's first tap, and which taps lie inside, one bit for each. */
typedef struct {
    int32_t x; /* bytes from the first element of the tile */
    uint32_t rows;
    uint32_t columns;
    uint8_t *y;
} tw_xp_pixel;

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

/* Two pixels and four channels: `count` runs of x, each of `words` words, both one at least. `runs` says where they
 * begin, one pixel's before the other's; what lies behind the last may be read.
 * Weights are stored in the order in which they are read. */
TW_KERNEL void tw_xp_dot2_ss(int32_t count, const uint8_t *const *runs, int32_t words, const uint8_t *w, int32_t *acc)
{
    int32_t s0 = acc[0];
    int32_t s1 = acc[1];
    int32_t s2 = acc[2];
    int32_t s3 = acc[3];
    int32_t s4 = acc[4];
    int32_t s5 = acc[5];
    int32_t s6 = acc[6];
    int32_t s7 = acc[7];
#ifdef TW_XP_ASM
    __asm__ volatile(
        TW_XP_LW(t1, %[runs], 4)
        TW_XP_LW(t3, %[runs], 4)
        TW_XP_LOOPS(14, 2)
        TW_XP_LW(t4, %[w], 4)
        TW_XP_LW(a6, t1, 4)
        TW_XP_LW(t5, %[w], 4)
        TW_XP_LW(a7, t3, 4)
        TW_XP_LW(t6, %[w], 4)
        TW_XP_SDOTSP(%[s0], a6, t4)
        TW_XP_SDOTSP(%[s4], a7, t4)
        TW_XP_LW(t4, %[w], 4)
        TW_XP_SDOTSP(%[s1], a6, t5)
        TW_XP_SDOTSP(%[s5], a7, t5)
        TW_XP_SDOTSP(%[s2], a6, t6)
        TW_XP_SDOTSP(%[s6], a7, t6)
        TW_XP_SDOTSP(%[s3], a6, t4)
        TW_XP_SDOTSP(%[s7], a7, t4)
        TW_XP_LW(t1, %[runs], 4)
        TW_XP_LW(t3, %[runs], 4)
        TW_XP_LOOP_END
        : [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3), [s4] "+&r"(s4), [s5] "+&r"(s5),
            [s6] "+&r"(s6), [s7] "+&r"(s7), [w] "+&r"(w), [runs] "+&r"(runs)
        : [outer] "r"(count), [inner] "r"(words)
        : "memory", "t1", "t3", "a6", "a7", "t4", "t5", "t6");
#else
    for (int32_t run = 0; run < count; ++run) {
        for (int32_t i = 0; i < words; ++i) {
            const uint32_t a0 = tw_xp_load(runs[(2 * run)] + (4 * i));
            const uint32_t a1 = tw_xp_load(runs[((2 * run)) + 1] + (4 * i));
            s0 = tw_xp_sdot_ss(s0, a0, tw_xp_load(w));
            s1 = tw_xp_sdot_ss(s1, a0, tw_xp_load(w + 4));
            s2 = tw_xp_sdot_ss(s2, a0, tw_xp_load(w + 8));
            s3 = tw_xp_sdot_ss(s3, a0, tw_xp_load(w + 12));
            s4 = tw_xp_sdot_ss(s4, a1, tw_xp_load(w));
            s5 = tw_xp_sdot_ss(s5, a1, tw_xp_load(w + 4));
            s6 = tw_xp_sdot_ss(s6, a1, tw_xp_load(w + 8));
            s7 = tw_xp_sdot_ss(s7, a1, tw_xp_load(w + 12));
            w += 16;
        }
    }
#endif
    acc[0] = s0;
    acc[1] = s1;
    acc[2] = s2;
    acc[3] = s3;
    acc[4] = s4;
    acc[5] = s5;
    acc[6] = s6;
    acc[7] = s7;
}

/* One pixel and four channels: `count` runs of x, each of `words` words, both one at least. `runs` says where they
 * begin; what lies behind the last may be read.
 * Weights are stored in the order in which they are read. */
TW_KERNEL void tw_xp_dot1_ss(int32_t count, const uint8_t *const *runs, int32_t words, const uint8_t *w, int32_t *acc)
{
    int32_t s0 = acc[0];
    int32_t s1 = acc[1];
    int32_t s2 = acc[2];
    int32_t s3 = acc[3];
#ifdef TW_XP_ASM
    __asm__ volatile(
        TW_XP_LW(t1, %[runs], 4)
        TW_XP_LOOPS(9, 1)
        TW_XP_LW(t4, %[w], 4)
        TW_XP_LW(a6, t1, 4)
        TW_XP_LW(t5, %[w], 4)
        TW_XP_LW(t6, %[w], 4)
        TW_XP_SDOTSP(%[s0], a6, t4)
        TW_XP_LW(t4, %[w], 4)
        TW_XP_SDOTSP(%[s1], a6, t5)
        TW_XP_SDOTSP(%[s2], a6, t6)
        TW_XP_SDOTSP(%[s3], a6, t4)
        TW_XP_LW(t1, %[runs], 4)
        TW_XP_LOOP_END
        : [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3), [w] "+&r"(w), [runs] "+&r"(runs)
        : [outer] "r"(count), [inner] "r"(words)
        : "memory", "t1", "a6", "t4", "t5", "t6");
#else
    for (int32_t run = 0; run < count; ++run) {
        for (int32_t i = 0; i < words; ++i) {
            const uint32_t a0 = tw_xp_load(runs[run] + (4 * i));
            s0 = tw_xp_sdot_ss(s0, a0, tw_xp_load(w));
            s1 = tw_xp_sdot_ss(s1, a0, tw_xp_load(w + 4));
            s2 = tw_xp_sdot_ss(s2, a0, tw_xp_load(w + 8));
            s3 = tw_xp_sdot_ss(s3, a0, tw_xp_load(w + 12));
            w += 16;
        }
    }
#endif
    acc[0] = s0;
    acc[1] = s1;
    acc[2] = s2;
    acc[3] = s3;
}

/* clamp(rne(value) + zero_point). Limits of "any" are less the zero point. */
TW_KERNEL uint8_t tw_xp_finished_i8(float value, tw_xp_limits to)
{
    return (uint8_t)tw_xp_clip_i8(tw_xp_nearest(value) + to.zero_point);
}

/* Four channels of `pixels` pixels, 1 or 2, or the first `count` of them. `b` holds four biases, then four scales. */
TW_KERNEL void tw_xp_finish_i8(int32_t pixels, const int32_t *acc, const int32_t *b, int32_t count,
        tw_xp_limits to, uint8_t *y0, uint8_t *y1)
{
    if (count < 4) { /* no index into acc is a variable: it stays in registers */
        if (count > 0) {
            const float scale = tw_xp_scale(b + 4);
            y0[0] = tw_xp_finished_i8((float)acc[0] * scale, to);
            if (pixels == 2) {
                y1[0] = tw_xp_finished_i8((float)acc[4] * scale, to);
            }
        }
        if (count > 1) {
            const float scale = tw_xp_scale(b + 5);
            y0[1] = tw_xp_finished_i8((float)acc[1] * scale, to);
            if (pixels == 2) {
                y1[1] = tw_xp_finished_i8((float)acc[5] * scale, to);
            }
        }
        if (count > 2) {
            const float scale = tw_xp_scale(b + 6);
            y0[2] = tw_xp_finished_i8((float)acc[2] * scale, to);
            if (pixels == 2) {
                y1[2] = tw_xp_finished_i8((float)acc[6] * scale, to);
            }
        }
        return;
    }
    const float s0 = tw_xp_scale(b + 4);
    const float s1 = tw_xp_scale(b + 5);
    const float s2 = tw_xp_scale(b + 6);
    const float s3 = tw_xp_scale(b + 7);
    const float v0 = (float)acc[0] * s0;
    const float v1 = (float)acc[1] * s1;
    const float v2 = (float)acc[2] * s2;
    const float v3 = (float)acc[3] * s3;
    y0[0] = tw_xp_finished_i8(v0, to);
    y0[1] = tw_xp_finished_i8(v1, to);
    y0[2] = tw_xp_finished_i8(v2, to);
    y0[3] = tw_xp_finished_i8(v3, to);
    if (pixels == 1) {
        return;
    }
    const float v4 = (float)acc[4] * s0;
    const float v5 = (float)acc[5] * s1;
    const float v6 = (float)acc[6] * s2;
    const float v7 = (float)acc[7] * s3;
    y1[0] = tw_xp_finished_i8(v4, to);
    y1[1] = tw_xp_finished_i8(v5, to);
    y1[2] = tw_xp_finished_i8(v6, to);
    y1[3] = tw_xp_finished_i8(v7, to);
}

/* What `count` windows of a column read of the rows: 101 bytes of each, 104 apart. */
TW_KERNEL void tw_xp_products_ss_i8_columns_0_101_104_2_212_strip(const tw_xp_windows *p, int32_t top, int32_t left,
        int32_t count, const uint8_t *x, uint8_t *to)
{
    const int32_t step = p->row_dilation * p->x_row;
    const uint8_t *from = x + ((top * p->x_row) + (left * p->x_column));
    for (int32_t i = count; i > 0; --i) {
            tw_xp_copy(to, from, 101);
            to += 104;
            from += step;
        }
}

/* Every channel of `pixels` pixels, 1 or 2. */
TW_KERNEL void tw_xp_products_ss_i8_columns_0_101_104_2_212_pixels(const tw_xp_windows *p, int32_t pixels,
        const tw_xp_pixel *at, const uint8_t *w, const int32_t *b, const uint8_t *columns)
{
    const uint8_t *runs[4];
    const int32_t count = 1;
    const int32_t words = p->column / 4;
    for (int32_t i = 0; i < pixels; ++i) {
        runs[i] = columns + at[i].x;
    }
    for (int32_t o = 0; o < p->outputs; o += 4) {
        int32_t acc[8] = {b[0], b[1], b[2], b[3], b[0], b[1], b[2], b[3]};
        if (pixels == 2) {
            tw_xp_dot2_ss(count, runs, words, w, acc);
        } else {
            tw_xp_dot1_ss(count, runs, words, w, acc);
        }
        tw_xp_finish_i8(pixels, acc, b, p->outputs - o, p->to, at[0].y + o, at[pixels - 1].y + o);
        b += 8;
        w += 4 * p->column;
    }
}

TW_KERNEL void tw_xp_products_ss_i8_columns_0_101_104_2_212(const tw_xp_windows p, const uint8_t *x, const uint8_t *w,
        const int32_t *b, uint8_t *y, uint8_t *columns)
{
    tw_xp_pixel at[2];
    int32_t held = 0;
    int32_t strip = 0; /* the other one holds what is not computed yet */
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t j = 0; j < p.columns; ++j) {
            for (int32_t first = 0; first < p.rows; first += 2) {
                const int32_t some = ((p.rows - first) < 2) ? (p.rows - first) : 2;
                tw_xp_products_ss_i8_columns_0_101_104_2_212_strip(&p, (first * p.row_stride) - p.top,
                    (j * p.column_stride) - p.left, ((some - 1) * p.row_stride) + p.row_taps, x + (n * p.x_batch),
                    columns + strip);
                for (int32_t i = 0; i < some; ++i) {
                    at[held].x = strip + (i * p.row_stride * 104);
                    at[held].rows = at[held].columns = 0;
                    at[held].y = y + (n * p.y_batch) + ((first + i) * p.y_row) + (j * p.y_column);
                    held += 1;
                    if (held == 2) {
                        tw_xp_products_ss_i8_columns_0_101_104_2_212_pixels(&p, 2, at, w, b, columns);
                        held = 0;
                    }
                }
                strip = 212 - strip;
            }
        }
    }
    if (held) {
        tw_xp_products_ss_i8_columns_0_101_104_2_212_pixels(&p, 1, at, w, b, columns);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QGemm
 *   nodes    qgemm_0
 *   kernel   siracusa.qgemm
 *   tiles    l1: whole (1)
 *   A        i8[37,101]  l2 [0, 3737)         qgemm_0_in0
 *   W        i8[14,416]  weights [464, 6288)  qgemm_0.W
 *   P        i32[14,8]   weights [16, 464)    qgemm_0.P
 *   Y        i8[37,53]   l2 [3740, 5701)      qgemm_0_out0
 *   scratch  u8[3392]    l1 [9568, 12960)
 *   A        i8[37,101]  l1 [5824, 9561)      resident
 *   W        i8[14,416]  l1 [0, 5824)         resident
 *   P        i32[14,8]   l1 [12960, 13408)    resident
 *   Y        i8[37,53]   l1 [13408, 15369)    resident
 */

/* Brings A from l2. */
static void net_0_qgemm_fetch_a(uint8_t *l2, tw_slot *slot)
{
    const uint8_t *const far = l2 + IN_QGEMM_0_IN0;
    tw_transfer(slot, slot->bytes, far, 3737, 1, 0, 0);
}

/* Brings W from weights. */
static void net_0_qgemm_fetch_w(const uint8_t *weights, tw_slot *slot)
{
    const uint8_t *const far = weights + QGEMM_0_W;
    tw_transfer(slot, slot->bytes, far, 5824, 1, 0, 0);
}

/* Brings P from weights. */
static void net_0_qgemm_fetch_p(const uint8_t *weights, tw_slot *slot)
{
    const uint8_t *const far = weights + QGEMM_0_P;
    tw_transfer(slot, slot->bytes, far, 448, 1, 0, 0);
}

/* Takes Y to l2. */
static void net_0_qgemm_store_y(uint8_t *l2, tw_slot *slot)
{
    uint8_t *const far = l2 + QGEMM_0_OUT;
    tw_transfer(slot, far, slot->bytes, 1961, 1, 0, 0);
}

/* Computes this core's share, along loop _lead0. */
static void net_0_qgemm_compute(const uint8_t *a, const uint8_t *w, const uint8_t *p, uint8_t *y, uint8_t *l1)
{
    const tw_range mine = tw_share((tw_range){0, 37}, 1);
    if (mine.low < mine.high) {
        const tw_span a_axis_0 = tw_span_inside(mine.low, mine.high);
        const tw_span y_axis_0 = tw_span_inside(mine.low, mine.high);
        const int8_t *const my_a = (const int8_t *)(a + (101 * a_axis_0.low));
        const int8_t *const my_w = (const int8_t *)w;
        const int32_t *const my_p = (const int32_t *)p;
        int8_t *const my_y = (int8_t *)(y + (53 * y_axis_0.low));
        uint8_t *const scratch = l1 + QGEMM_0_SCRATCH + (424 * (int32_t)tw_rt_core());
        tw_xp_products_ss_i8_columns_0_101_104_2_212((tw_xp_windows){
            .row_taps = 1, .column_taps = 1, .row_stride = 1, .column_stride = 1, .row_dilation = 1,
            .column_dilation = 1, .batches = 1, .rows = 1, .columns = y_axis_0.extent, .outputs = 53, .in_rows = 1,
            .in_columns = y_axis_0.extent, .top = 0, .left = 0, .x_batch = 0, .x_row = 0, .x_column = 101, .y_batch = 0,
            .y_row = 0, .y_column = 53, .channels = 101, .joined = 1, .column = 104, .padding = UINT32_C(0x00000000),
            .to = {.low = -128, .high = 127, .zero_point = -3},
        }, (const uint8_t *)my_a, (const uint8_t *)my_w, my_p, (uint8_t *)my_y, scratch);
        tw_charge(18477u, mine.high - mine.low, 5);
    }
}

TW_STEP void net_0_qgemm(uint8_t *l1, uint8_t *l2, const uint8_t *weights)
{
    tw_rt_charge(1500u);
    tw_queue copies = {.started = 0};
    tw_slot a[1] = {{.bytes = l1 + QGEMM_0_A_L1_0, .queue = &copies}};
    tw_slot w[1] = {{.bytes = l1 + QGEMM_0_W_L1_0, .queue = &copies}};
    tw_slot p[1] = {{.bytes = l1 + QGEMM_0_P_L1_0, .queue = &copies}};
    tw_slot y[1] = {{.bytes = l1 + QGEMM_0_Y_L1_0, .queue = &copies}};
    if (tw_rt_is_dma_core()) {
        net_0_qgemm_fetch_a(l2, &a[0]);
        net_0_qgemm_fetch_w(weights, &w[0]);
        net_0_qgemm_fetch_p(weights, &p[0]);
        tw_arrived(&a[0]);
        tw_arrived(&w[0]);
        tw_arrived(&p[0]);
    }
    tw_rt_barrier();
    net_0_qgemm_compute(a[0].bytes, w[0].bytes, p[0].bytes, y[0].bytes, l1);
    tw_rt_barrier();
    if (tw_rt_is_dma_core()) {
        net_0_qgemm_store_y(l2, &y[0]);
        tw_arrived(&y[0]);
    }
}
