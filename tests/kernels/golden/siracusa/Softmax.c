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

/* Largest elements, NaN aside, and sums, which show NaN. */
TW_KERNEL void tw_xp_f32_largest(int32_t count, const float *x_in, int32_t x_step, float *sums)
{
    float m0 = sums[0];
    float m1 = sums[1];
    float m2 = sums[2];
    float m3 = sums[3];
    float s0 = sums[4];
    float s1 = sums[5];
    float s2 = sums[6];
    float s3 = sums[7];
    int32_t left = count;
#ifdef TW_XP_FPU
    if (x_step == 1 && count >= 4) {
        int32_t trips = count / 4;
        __asm__ volatile(
            TW_XP_LOOP(13)
            "flw ft0, 0(%[x_in])\n\t"
            "flw ft1, 4(%[x_in])\n\t"
            "flw ft2, 8(%[x_in])\n\t"
            "flw ft3, 12(%[x_in])\n\t"
            "fmax.s %[m0], ft0, %[m0]\n\t"
            "fmax.s %[m1], ft1, %[m1]\n\t"
            "fmax.s %[m2], ft2, %[m2]\n\t"
            "fmax.s %[m3], ft3, %[m3]\n\t"
            "fadd.s %[s0], %[s0], ft0\n\t"
            "fadd.s %[s1], %[s1], ft1\n\t"
            "fadd.s %[s2], %[s2], ft2\n\t"
            "fadd.s %[s3], %[s3], ft3\n\t"
            "addi %[x_in], %[x_in], 16\n\t"
            TW_XP_LOOP_END
            : [m0] "+&f"(m0), [m1] "+&f"(m1), [m2] "+&f"(m2), [m3] "+&f"(m3), [s0] "+&f"(s0), [s1] "+&f"(s1),
        [s2] "+&f"(s2), [s3] "+&f"(s3), [trips] "+&r"(trips), [x_in] "+&r"(x_in)
            :
            : "memory", "ft0", "ft1", "ft2", "ft3");
        left = count % 4;
    } else
#endif
    for (; left >= 4; left -= 4) {
        float x0 = x_in[0 * x_step];
        float x1 = x_in[1 * x_step];
        float x2 = x_in[2 * x_step];
        float x3 = x_in[3 * x_step];
        m0 = tw_xp_f32_max(x0, m0);
        m1 = tw_xp_f32_max(x1, m1);
        m2 = tw_xp_f32_max(x2, m2);
        m3 = tw_xp_f32_max(x3, m3);
        s0 = s0 + x0;
        s1 = s1 + x1;
        s2 = s2 + x2;
        s3 = s3 + x3;
        x_in += 4 * x_step;
    }
    for (; left >= 1; left -= 1) {
        float x0 = x_in[0 * x_step];
        m0 = tw_xp_f32_max(x0, m0);
        s0 = s0 + x0;
        x_in += 1 * x_step;
    }
    sums[0] = m0;
    sums[1] = m1;
    sums[2] = m2;
    sums[3] = m3;
    sums[4] = s0;
    sums[5] = s1;
    sums[6] = s2;
    sums[7] = s3;
}

/* The largest element of a row; NaN where one is NaN, or the largest is infinite. */
TW_KERNEL float tw_xp_f32_base(int32_t count, const float *x, int32_t x_step)
{
    float found[] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, 0.0f, 0.0f, 0.0f, 0.0f};
    tw_xp_f32_largest(count, x, x_step, found);
    float largest = tw_xp_f32_max(tw_xp_f32_max(found[0], found[1]), tw_xp_f32_max(found[2], found[3]));
    const float sum = (found[4] + found[5]) + (found[6] + found[7]);
    if (sum != sum) { /* a NaN, or infinities of both signs */
        for (int32_t i = 0; i < count; ++i) {
            largest = (x[i * x_step] != x[i * x_step]) ? NAN : largest;
        }
    }
    return ((largest - largest) == 0.0f) ? largest : NAN;
}

/* exp(x - largest) 2^64, and its sums. */
TW_KERNEL void tw_xp_f32_shares(int32_t count, const float *x_in, int32_t x_step, float *y_out, int32_t y_step,
        float largest, float *sums)
{
    const float log2e = 0x1.715476p+0f;
    const float zero = 12583103.0f;
    const float ln2_high = 0x1.62e4p-1f;
    const float ln2_low = 0x1.7f7d1cp-20f;
    const float c0 = 1.0f;
    const float c1 = 1.0f;
    const float c2 = 0.5f;
    const float c3 = 0x1.555466p-3f;
    const float c4 = 0x1.5552fep-5f;
    const float c5 = 0x1.1257d2p-7f;
    const float c6 = 0x1.6ff254p-10f;
    const float least = -105.0f;
    float s0 = sums[0];
    float s1 = sums[1];
    float s2 = sums[2];
    float s3 = sums[3];
    int32_t left = count;
#ifdef TW_XP_FPU
    if (x_step == 1 && y_step == 1 && count >= 4) {
        int32_t trips = count / 4;
        __asm__ volatile(
            TW_XP_LOOP(78)
            "flw ft0, 0(%[x_in])\n\t"
            "flw ft1, 4(%[x_in])\n\t"
            "flw ft2, 8(%[x_in])\n\t"
            "flw ft3, 12(%[x_in])\n\t"
            "fsub.s ft0, ft0, %[largest]\n\t"
            "fsub.s ft1, ft1, %[largest]\n\t"
            "fsub.s ft2, ft2, %[largest]\n\t"
            "fsub.s ft3, ft3, %[largest]\n\t"
            "fmax.s ft0, ft0, %[least]\n\t"
            "fmax.s ft1, ft1, %[least]\n\t"
            "fmax.s ft2, ft2, %[least]\n\t"
            "fmax.s ft3, ft3, %[least]\n\t"
            "fmadd.s ft4, ft0, %[log2e], %[zero]\n\t"
            "fmadd.s ft5, ft1, %[log2e], %[zero]\n\t"
            "fmadd.s ft6, ft2, %[log2e], %[zero]\n\t"
            "fmadd.s ft7, ft3, %[log2e], %[zero]\n\t"
            "fmv.x.w t3, ft4\n\t"
            "fmv.x.w t4, ft5\n\t"
            "fmv.x.w t5, ft6\n\t"
            "fmv.x.w t6, ft7\n\t"
            "fsub.s ft8, ft4, %[zero]\n\t"
            "fsub.s ft9, ft5, %[zero]\n\t"
            "fsub.s ft10, ft6, %[zero]\n\t"
            "fsub.s ft11, ft7, %[zero]\n\t"
            "fnmsub.s ft0, ft8, %[ln2_high], ft0\n\t"
            "fnmsub.s ft1, ft9, %[ln2_high], ft1\n\t"
            "fnmsub.s ft2, ft10, %[ln2_high], ft2\n\t"
            "fnmsub.s ft3, ft11, %[ln2_high], ft3\n\t"
            "fnmsub.s ft0, ft8, %[ln2_low], ft0\n\t"
            "fnmsub.s ft1, ft9, %[ln2_low], ft1\n\t"
            "fnmsub.s ft2, ft10, %[ln2_low], ft2\n\t"
            "fnmsub.s ft3, ft11, %[ln2_low], ft3\n\t"
            "slli t3, t3, 23\n\t"
            "slli t4, t4, 23\n\t"
            "slli t5, t5, 23\n\t"
            "slli t6, t6, 23\n\t"
            "fmv.w.x ft4, t3\n\t"
            "fmv.w.x ft5, t4\n\t"
            "fmv.w.x ft6, t5\n\t"
            "fmv.w.x ft7, t6\n\t"
            "fmadd.s ft8, %[c6], ft0, %[c5]\n\t"
            "fmadd.s ft9, %[c6], ft1, %[c5]\n\t"
            "fmadd.s ft10, %[c6], ft2, %[c5]\n\t"
            "fmadd.s ft11, %[c6], ft3, %[c5]\n\t"
            "fmadd.s ft8, ft8, ft0, %[c4]\n\t"
            "fmadd.s ft9, ft9, ft1, %[c4]\n\t"
            "fmadd.s ft10, ft10, ft2, %[c4]\n\t"
            "fmadd.s ft11, ft11, ft3, %[c4]\n\t"
            "fmadd.s ft8, ft8, ft0, %[c3]\n\t"
            "fmadd.s ft9, ft9, ft1, %[c3]\n\t"
            "fmadd.s ft10, ft10, ft2, %[c3]\n\t"
            "fmadd.s ft11, ft11, ft3, %[c3]\n\t"
            "fmadd.s ft8, ft8, ft0, %[c2]\n\t"
            "fmadd.s ft9, ft9, ft1, %[c2]\n\t"
            "fmadd.s ft10, ft10, ft2, %[c2]\n\t"
            "fmadd.s ft11, ft11, ft3, %[c2]\n\t"
            "fmadd.s ft8, ft8, ft0, %[c1]\n\t"
            "fmadd.s ft9, ft9, ft1, %[c1]\n\t"
            "fmadd.s ft10, ft10, ft2, %[c1]\n\t"
            "fmadd.s ft11, ft11, ft3, %[c1]\n\t"
            "fmadd.s ft8, ft8, ft0, %[c0]\n\t"
            "fmadd.s ft9, ft9, ft1, %[c0]\n\t"
            "fmadd.s ft10, ft10, ft2, %[c0]\n\t"
            "fmadd.s ft11, ft11, ft3, %[c0]\n\t"
            "fmul.s ft8, ft8, ft4\n\t"
            "fmul.s ft9, ft9, ft5\n\t"
            "fmul.s ft10, ft10, ft6\n\t"
            "fmul.s ft11, ft11, ft7\n\t"
            "fadd.s %[s0], %[s0], ft8\n\t"
            "fadd.s %[s1], %[s1], ft9\n\t"
            "fadd.s %[s2], %[s2], ft10\n\t"
            "fadd.s %[s3], %[s3], ft11\n\t"
            "fsw ft8, 0(%[y_out])\n\t"
            "fsw ft9, 4(%[y_out])\n\t"
            "fsw ft10, 8(%[y_out])\n\t"
            "fsw ft11, 12(%[y_out])\n\t"
            "addi %[x_in], %[x_in], 16\n\t"
            "addi %[y_out], %[y_out], 16\n\t"
            TW_XP_LOOP_END
            : [s0] "+&f"(s0), [s1] "+&f"(s1), [s2] "+&f"(s2), [s3] "+&f"(s3), [trips] "+&r"(trips), [x_in] "+&r"(x_in),
        [y_out] "+&r"(y_out)
            : [log2e] "f"(log2e), [zero] "f"(zero), [ln2_high] "f"(ln2_high), [ln2_low] "f"(ln2_low), [c0] "f"(c0),
        [c1] "f"(c1), [c2] "f"(c2), [c3] "f"(c3), [c4] "f"(c4), [c5] "f"(c5), [c6] "f"(c6), [least] "f"(least),
        [largest] "f"(largest)
            : "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "t3",
        "t4", "t5", "t6");
        left = count % 4;
    } else
#endif
    for (; left >= 4; left -= 4) {
        float x0 = x_in[0 * x_step];
        float x1 = x_in[1 * x_step];
        float x2 = x_in[2 * x_step];
        float x3 = x_in[3 * x_step];
        float p0;
        float p1;
        float p2;
        float p3;
        float w0;
        float w1;
        float w2;
        float w3;
        float y0;
        float y1;
        float y2;
        float y3;
        x0 = x0 - largest;
        x1 = x1 - largest;
        x2 = x2 - largest;
        x3 = x3 - largest;
        x0 = tw_xp_f32_max(x0, least);
        x1 = tw_xp_f32_max(x1, least);
        x2 = tw_xp_f32_max(x2, least);
        x3 = tw_xp_f32_max(x3, least);
        p0 = tw_xp_f32_fma(x0, log2e, zero);
        p1 = tw_xp_f32_fma(x1, log2e, zero);
        p2 = tw_xp_f32_fma(x2, log2e, zero);
        p3 = tw_xp_f32_fma(x3, log2e, zero);
        w0 = p0;
        w1 = p1;
        w2 = p2;
        w3 = p3;
        y0 = p0 - zero;
        y1 = p1 - zero;
        y2 = p2 - zero;
        y3 = p3 - zero;
        x0 = tw_xp_f32_fma(-y0, ln2_high, x0);
        x1 = tw_xp_f32_fma(-y1, ln2_high, x1);
        x2 = tw_xp_f32_fma(-y2, ln2_high, x2);
        x3 = tw_xp_f32_fma(-y3, ln2_high, x3);
        x0 = tw_xp_f32_fma(-y0, ln2_low, x0);
        x1 = tw_xp_f32_fma(-y1, ln2_low, x1);
        x2 = tw_xp_f32_fma(-y2, ln2_low, x2);
        x3 = tw_xp_f32_fma(-y3, ln2_low, x3);
        p0 = tw_xp_f32_from(tw_xp_f32_bits(w0) << 23);
        p1 = tw_xp_f32_from(tw_xp_f32_bits(w1) << 23);
        p2 = tw_xp_f32_from(tw_xp_f32_bits(w2) << 23);
        p3 = tw_xp_f32_from(tw_xp_f32_bits(w3) << 23);
        y0 = tw_xp_f32_fma(c6, x0, c5);
        y1 = tw_xp_f32_fma(c6, x1, c5);
        y2 = tw_xp_f32_fma(c6, x2, c5);
        y3 = tw_xp_f32_fma(c6, x3, c5);
        y0 = tw_xp_f32_fma(y0, x0, c4);
        y1 = tw_xp_f32_fma(y1, x1, c4);
        y2 = tw_xp_f32_fma(y2, x2, c4);
        y3 = tw_xp_f32_fma(y3, x3, c4);
        y0 = tw_xp_f32_fma(y0, x0, c3);
        y1 = tw_xp_f32_fma(y1, x1, c3);
        y2 = tw_xp_f32_fma(y2, x2, c3);
        y3 = tw_xp_f32_fma(y3, x3, c3);
        y0 = tw_xp_f32_fma(y0, x0, c2);
        y1 = tw_xp_f32_fma(y1, x1, c2);
        y2 = tw_xp_f32_fma(y2, x2, c2);
        y3 = tw_xp_f32_fma(y3, x3, c2);
        y0 = tw_xp_f32_fma(y0, x0, c1);
        y1 = tw_xp_f32_fma(y1, x1, c1);
        y2 = tw_xp_f32_fma(y2, x2, c1);
        y3 = tw_xp_f32_fma(y3, x3, c1);
        y0 = tw_xp_f32_fma(y0, x0, c0);
        y1 = tw_xp_f32_fma(y1, x1, c0);
        y2 = tw_xp_f32_fma(y2, x2, c0);
        y3 = tw_xp_f32_fma(y3, x3, c0);
        y0 = y0 * p0;
        y1 = y1 * p1;
        y2 = y2 * p2;
        y3 = y3 * p3;
        s0 = s0 + y0;
        s1 = s1 + y1;
        s2 = s2 + y2;
        s3 = s3 + y3;
        y_out[0 * y_step] = y0;
        y_out[1 * y_step] = y1;
        y_out[2 * y_step] = y2;
        y_out[3 * y_step] = y3;
        x_in += 4 * x_step;
        y_out += 4 * y_step;
    }
    for (; left >= 1; left -= 1) {
        float x0 = x_in[0 * x_step];
        float p0;
        float w0;
        float y0;
        x0 = x0 - largest;
        x0 = tw_xp_f32_max(x0, least);
        p0 = tw_xp_f32_fma(x0, log2e, zero);
        w0 = p0;
        y0 = p0 - zero;
        x0 = tw_xp_f32_fma(-y0, ln2_high, x0);
        x0 = tw_xp_f32_fma(-y0, ln2_low, x0);
        p0 = tw_xp_f32_from(tw_xp_f32_bits(w0) << 23);
        y0 = tw_xp_f32_fma(c6, x0, c5);
        y0 = tw_xp_f32_fma(y0, x0, c4);
        y0 = tw_xp_f32_fma(y0, x0, c3);
        y0 = tw_xp_f32_fma(y0, x0, c2);
        y0 = tw_xp_f32_fma(y0, x0, c1);
        y0 = tw_xp_f32_fma(y0, x0, c0);
        y0 = y0 * p0;
        s0 = s0 + y0;
        y_out[0 * y_step] = y0;
        x_in += 1 * x_step;
        y_out += 1 * y_step;
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

/* y = x factor. */
TW_KERNEL void tw_xp_f32_scaled(int32_t count, const float *x_in, int32_t x_step, float *y_out, int32_t y_step,
        float factor)
{
    int32_t left = count;
#ifdef TW_XP_FPU
    if (x_step == 1 && y_step == 1 && count >= 4) {
        int32_t trips = count / 4;
        __asm__ volatile(
            TW_XP_LOOP(14)
            "flw ft0, 0(%[x_in])\n\t"
            "flw ft1, 4(%[x_in])\n\t"
            "flw ft2, 8(%[x_in])\n\t"
            "flw ft3, 12(%[x_in])\n\t"
            "fmul.s ft4, ft0, %[factor]\n\t"
            "fmul.s ft5, ft1, %[factor]\n\t"
            "fmul.s ft6, ft2, %[factor]\n\t"
            "fmul.s ft7, ft3, %[factor]\n\t"
            "fsw ft4, 0(%[y_out])\n\t"
            "fsw ft5, 4(%[y_out])\n\t"
            "fsw ft6, 8(%[y_out])\n\t"
            "fsw ft7, 12(%[y_out])\n\t"
            "addi %[x_in], %[x_in], 16\n\t"
            "addi %[y_out], %[y_out], 16\n\t"
            TW_XP_LOOP_END
            : [trips] "+&r"(trips), [x_in] "+&r"(x_in), [y_out] "+&r"(y_out)
            : [factor] "f"(factor)
            : "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7");
        left = count % 4;
    } else
#endif
    for (; left >= 4; left -= 4) {
        float x0 = x_in[0 * x_step];
        float x1 = x_in[1 * x_step];
        float x2 = x_in[2 * x_step];
        float x3 = x_in[3 * x_step];
        float y0;
        float y1;
        float y2;
        float y3;
        y0 = x0 * factor;
        y1 = x1 * factor;
        y2 = x2 * factor;
        y3 = x3 * factor;
        y_out[0 * y_step] = y0;
        y_out[1 * y_step] = y1;
        y_out[2 * y_step] = y2;
        y_out[3 * y_step] = y3;
        x_in += 4 * x_step;
        y_out += 4 * y_step;
    }
    for (; left >= 1; left -= 1) {
        float x0 = x_in[0 * x_step];
        float y0;
        y0 = x0 * factor;
        y_out[0 * y_step] = y0;
        x_in += 1 * x_step;
        y_out += 1 * y_step;
    }
}

/* One row: y = exp(x - max) / sum(exp(x - max)). NaN, or an infinite largest element, makes the whole row NaN. */
TW_KERNEL void tw_xp_f32_softmax(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    const float largest = tw_xp_f32_base(count, x, x_step);
    float sums[] = {0.0f, 0.0f, 0.0f, 0.0f};
    tw_xp_f32_shares(count, x, x_step, y, y_step, largest, sums);
    const float factor = (largest - largest) + (1.0f / ((sums[0] + sums[1]) + (sums[2] + sums[3])));
    tw_xp_f32_scaled(count, y, y_step, y, y_step, factor);
}

/* ---- steps ---- */

/* Step 0 of 1: Softmax
 *   nodes    softmax_0
 *   kernel   siracusa.softmax_f32
 *   tiles    l1: whole (1)
 *   X        f32[3,37,29]  l2 [0, 12876)      softmax_0_in0
 *   Y        f32[3,37,29]  l2 [12876, 25752)  softmax_0_out0
 *   X        f32[3,37,29]  l1 [0, 12876)      resident
 *   Y        f32[3,37,29]  l1 [12880, 25756)  resident
 */

/* Brings X from l2. */
static void net_0_softmax_fetch_x(uint8_t *l2, tw_slot *slot)
{
    const uint8_t *const far = l2 + IN_SOFTMAX_0_IN0;
    tw_transfer(slot, slot->bytes, far, 12876, 1, 0, 0);
}

/* Takes Y to l2. */
static void net_0_softmax_store_y(uint8_t *l2, tw_slot *slot)
{
    uint8_t *const far = l2 + SOFTMAX_0_OUT;
    tw_transfer(slot, far, slot->bytes, 12876, 1, 0, 0);
}

/* Computes this core's share, along loop i1. */
static void net_0_softmax_compute(const uint8_t *x, uint8_t *y)
{
    const tw_range mine = tw_share((tw_range){0, 37}, 1);
    if (mine.low < mine.high) {
        const tw_span x_axis_1 = tw_span_inside(mine.low, mine.high);
        const tw_span y_axis_1 = tw_span_inside(mine.low, mine.high);
        const float *const my_x = (const float *)(x + (116 * x_axis_1.low));
        float *const my_y = (float *)(y + (116 * y_axis_1.low));
        for (int32_t tw_i0 = 0; tw_i0 < 3; ++tw_i0) {
            for (int32_t tw_i1 = 0; tw_i1 < y_axis_1.extent; ++tw_i1) {
                tw_xp_f32_softmax(29, my_x + (tw_i0 * 1073) + (tw_i1 * 29), 1, my_y + (tw_i0 * 1073) + (tw_i1 * 29), 1);
            }
        }
        tw_charge(19956u, mine.high - mine.low, 5);
    }
}

TW_STEP void net_0_softmax(uint8_t *l1, uint8_t *l2)
{
    tw_rt_charge(1500u);
    tw_queue copies = {.started = 0};
    tw_slot x[1] = {{.bytes = l1 + SOFTMAX_0_X_L1_0, .queue = &copies}};
    tw_slot y[1] = {{.bytes = l1 + SOFTMAX_0_Y_L1_0, .queue = &copies}};
    if (tw_rt_is_dma_core()) {
        net_0_softmax_fetch_x(l2, &x[0]);
        tw_arrived(&x[0]);
    }
    tw_rt_barrier();
    net_0_softmax_compute(x[0].bytes, y[0].bytes);
    tw_rt_barrier();
    if (tw_rt_is_dma_core()) {
        net_0_softmax_store_y(l2, &y[0]);
        tw_arrived(&y[0]);
    }
}
