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

/* The sum of a and b. */
TW_KERNEL void tw_xp_f32_sum(int32_t count, const float *a_in, int32_t a_step, const float *b_in, int32_t b_step,
        float *y_out, int32_t y_step)
{
    int32_t left = count;
#ifdef TW_XP_FPU
    if (a_step == 1 && b_step == 1 && y_step == 1 && count >= 4) {
        int32_t trips = count / 4;
        __asm__ volatile(
            TW_XP_LOOP(19)
            "flw ft0, 0(%[a_in])\n\t"
            "flw ft1, 4(%[a_in])\n\t"
            "flw ft2, 8(%[a_in])\n\t"
            "flw ft3, 12(%[a_in])\n\t"
            "flw ft4, 0(%[b_in])\n\t"
            "flw ft5, 4(%[b_in])\n\t"
            "flw ft6, 8(%[b_in])\n\t"
            "flw ft7, 12(%[b_in])\n\t"
            "fadd.s ft8, ft0, ft4\n\t"
            "fadd.s ft9, ft1, ft5\n\t"
            "fadd.s ft10, ft2, ft6\n\t"
            "fadd.s ft11, ft3, ft7\n\t"
            "fsw ft8, 0(%[y_out])\n\t"
            "fsw ft9, 4(%[y_out])\n\t"
            "fsw ft10, 8(%[y_out])\n\t"
            "fsw ft11, 12(%[y_out])\n\t"
            "addi %[a_in], %[a_in], 16\n\t"
            "addi %[b_in], %[b_in], 16\n\t"
            "addi %[y_out], %[y_out], 16\n\t"
            TW_XP_LOOP_END
            : [trips] "+&r"(trips), [a_in] "+&r"(a_in), [b_in] "+&r"(b_in), [y_out] "+&r"(y_out)
            :
            : "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11");
        left = count % 4;
    } else
#endif
    for (; left >= 4; left -= 4) {
        float a0 = a_in[0 * a_step];
        float a1 = a_in[1 * a_step];
        float a2 = a_in[2 * a_step];
        float a3 = a_in[3 * a_step];
        float b0 = b_in[0 * b_step];
        float b1 = b_in[1 * b_step];
        float b2 = b_in[2 * b_step];
        float b3 = b_in[3 * b_step];
        float y0;
        float y1;
        float y2;
        float y3;
        y0 = a0 + b0;
        y1 = a1 + b1;
        y2 = a2 + b2;
        y3 = a3 + b3;
        y_out[0 * y_step] = y0;
        y_out[1 * y_step] = y1;
        y_out[2 * y_step] = y2;
        y_out[3 * y_step] = y3;
        a_in += 4 * a_step;
        b_in += 4 * b_step;
        y_out += 4 * y_step;
    }
    for (; left >= 1; left -= 1) {
        float a0 = a_in[0 * a_step];
        float b0 = b_in[0 * b_step];
        float y0;
        y0 = a0 + b0;
        y_out[0 * y_step] = y0;
        a_in += 1 * a_step;
        b_in += 1 * b_step;
        y_out += 1 * y_step;
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Add
 *   nodes    add_0
 *   kernel   siracusa.add_f32
 *   tiles    l1: whole (1)
 *   A        f32[5,21,23]  l2 [0, 9660)      add_0_in0
 *   B        f32[21,1]     l2 [9660, 9744)   add_0_in1
 *   Y        f32[5,21,23]  l2 [9744, 19404)  add_0_out0
 *   A        f32[5,21,23]  l1 [0, 9660)      resident
 *   B        f32[21,1]     l1 [9664, 9748)   resident
 *   Y        f32[5,21,23]  l1 [9752, 19412)  resident
 */

/* Brings A from l2. */
static void net_0_add_fetch_a(uint8_t *l2, tw_slot *slot)
{
    const uint8_t *const far = l2 + IN_ADD_0_IN0;
    tw_transfer(slot, slot->bytes, far, 9660, 1, 0, 0);
}

/* Brings B from l2. */
static void net_0_add_fetch_b(uint8_t *l2, tw_slot *slot)
{
    const uint8_t *const far = l2 + IN_ADD_0_IN1;
    tw_transfer(slot, slot->bytes, far, 84, 1, 0, 0);
}

/* Takes Y to l2. */
static void net_0_add_store_y(uint8_t *l2, tw_slot *slot)
{
    uint8_t *const far = l2 + ADD_0_OUT;
    tw_transfer(slot, far, slot->bytes, 9660, 1, 0, 0);
}

/* Computes this core's share, along loop _lead1. */
static void net_0_add_compute(const uint8_t *a, const uint8_t *b, uint8_t *y)
{
    const tw_range mine = tw_share((tw_range){0, 21}, 1);
    if (mine.low < mine.high) {
        const tw_span a_axis_1 = tw_span_inside(mine.low, mine.high);
        const tw_span b_axis_0 = tw_span_inside(mine.low, mine.high);
        const tw_span y_axis_1 = tw_span_inside(mine.low, mine.high);
        const float *const my_a = (const float *)(a + (92 * a_axis_1.low));
        const float *const my_b = (const float *)(b + (4 * b_axis_0.low));
        float *const my_y = (float *)(y + (92 * y_axis_1.low));
        for (int32_t tw_i0 = 0; tw_i0 < 5; ++tw_i0) {
            for (int32_t tw_i1 = 0; tw_i1 < y_axis_1.extent; ++tw_i1) {
                tw_xp_f32_sum(23, my_a + (tw_i0 * 483) + (tw_i1 * 23), 1, my_b + tw_i1, 0,
                              my_y + (tw_i0 * 483) + (tw_i1 * 23), 1);
            }
        }
        tw_charge(2772u, mine.high - mine.low, 3);
    }
}

TW_STEP void net_0_add(uint8_t *l1, uint8_t *l2)
{
    tw_rt_charge(1500u);
    tw_queue copies = {.started = 0};
    tw_slot a[1] = {{.bytes = l1 + ADD_0_A_L1_0, .queue = &copies}};
    tw_slot b[1] = {{.bytes = l1 + ADD_0_B_L1_0, .queue = &copies}};
    tw_slot y[1] = {{.bytes = l1 + ADD_0_Y_L1_0, .queue = &copies}};
    if (tw_rt_is_dma_core()) {
        net_0_add_fetch_a(l2, &a[0]);
        net_0_add_fetch_b(l2, &b[0]);
        tw_arrived(&a[0]);
        tw_arrived(&b[0]);
    }
    tw_rt_barrier();
    net_0_add_compute(a[0].bytes, b[0].bytes, y[0].bytes);
    tw_rt_barrier();
    if (tw_rt_is_dma_core()) {
        net_0_add_store_y(l2, &y[0]);
        tw_arrived(&y[0]);
    }
}
