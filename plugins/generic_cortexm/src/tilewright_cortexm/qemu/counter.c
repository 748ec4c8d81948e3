/* A TCG plugin for qemu-system-arm: counts executed instructions by class, region of the program by region.
 *
 *   -plugin counter.so,regions=FILE,out=FILE[,flash=END]
 *
 * regions: lines `LOW HIGH ID`, addresses in hexadecimal, HIGH excluded. A block that starts inside makes ID the
 * current region; code outside all regions (a library's memcpy) belongs to whoever called it. The program begins in
 * region -1, which is not written.
 * out: a line with the names of the classes; then one line for each visit of a region, in order: ID and a count for
 * each class. Blocks are executed whole, so that counts are exact; an instruction that its IT block skips counts.
 * Behind the classes are counts of what makes instructions slower or faster than their class, no instructions:
 *   taken       jumps, and calls and returns
 *   paired      loads right behind a load or store, in the same block
 *   words       registers beyond the first that an instruction loads or stores
 *   overlapped  vector instructions right behind one of the other unit (memory, arithmetic)
 *   fetches     with `flash`, addresses below it are flash: lines of code that a cache of 64 lines of 16 bytes lacks
 */
#include "qemu_plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TW_EXPORT int qemu_plugin_version = 1;
TW_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

#define CLASSES(X) \
    X(other) X(load) X(store) X(load_multiple) X(store_multiple) X(branch) X(loop) X(multiply) X(simd_multiply) \
    X(divide) X(it) X(float) X(float_load) X(float_store) X(vector) X(vector_multiply) X(vector_load) X(vector_store) \
    X(long_multiply) X(float_divide)
#define EXTRAS(X) X(taken) X(paired) X(words) X(overlapped) X(fetches)
#define AS_NUMBER(name) is_##name,
#define AS_TEXT(name) " " #name
enum class { CLASSES(AS_NUMBER) EXTRAS(AS_NUMBER) CLASS_COUNT };

struct encoding {
    uint32_t mask, value;
    enum class class;
};

/* The first line that fits decides. Encodings from the Armv8-M architecture reference manual. */
static const struct encoding narrow[] = {
    {0xf800, 0x4800, is_load},
    {0xfe00, 0x5000, is_store},          {0xfe00, 0x5200, is_store},          {0xfe00, 0x5400, is_store},
    {0xf000, 0x5000, is_load},           {0xe800, 0x6000, is_store},          {0xe800, 0x6800, is_load},
    {0xe800, 0x8000, is_store},          {0xe800, 0x8800, is_load},           {0xf800, 0xc000, is_store_multiple},
    {0xf800, 0xc800, is_load_multiple},  {0xfe00, 0xb400, is_store_multiple}, {0xfe00, 0xbc00, is_load_multiple},
    {0xf500, 0xb100, is_branch},         {0xff0f, 0xbf00, is_other},          {0xff00, 0xbf00, is_it},
    {0xf000, 0xd000, is_branch},         {0xf800, 0xe000, is_branch},         {0xff00, 0x4700, is_branch},
    {0xffc0, 0x4340, is_multiply},       {0, 0, is_other},
};
static const struct encoding wide[] = {
    {0xfff0ffe0, 0xe8d0f000, is_branch}, /* TBB, TBH */
    {0xfe500000, 0xe8100000, is_load_multiple},
    {0xfe500000, 0xe8000000, is_store_multiple},
    {0xfe500000, 0xe8500000, is_load}, /* LDRD, exclusives */
    {0xfe500000, 0xe8400000, is_store},
    {0xfe100000, 0xf8100000, is_load},
    {0xfe100000, 0xf8000000, is_store},
    {0xfff00000, 0xfb200000, is_simd_multiply}, /* SMLAD, SMUAD */
    {0xfff00000, 0xfb400000, is_simd_multiply}, /* SMLSD, SMUSD */
    {0xfff000e0, 0xfbc000c0, is_simd_multiply}, /* SMLALD */
    {0xfff000e0, 0xfbd000c0, is_simd_multiply}, /* SMLSLD */
    {0xffd000f0, 0xfb9000f0, is_divide},
    {0xff800000, 0xfb800000, is_long_multiply},
    {0xff000000, 0xfb000000, is_multiply},
    {0xffb00e50, 0xee800a00, is_float_divide}, /* VDIV */
    {0xffbf0ed0, 0xeeb10ac0, is_float_divide}, /* VSQRT */
    {0xff80d001, 0xf000c001, is_loop}, /* WLS, DLS, LE and their tail-predicated forms */
    {0xfff0d000, 0xf3a08000, is_other}, /* hints */
    {0xfff0d000, 0xf3b08000, is_other}, /* barriers */
    {0xffe0d000, 0xf3808000, is_other}, /* MSR */
    {0xffe0d000, 0xf3e08000, is_other}, /* MRS */
    {0xf8008000, 0xf0008000, is_branch},
    {0xffe00e00, 0xec400a00, is_float}, /* VMOV of two registers */
    {0xefb01e00, 0xec900e00, is_vector_load}, /* gathers */
    {0xefb01e00, 0xec800e00, is_vector_store},
    {0xff901e00, 0xfc901e00, is_vector_load}, /* VLD2, VLD4 */
    {0xff901e00, 0xfc801e00, is_vector_store},
    {0xfe101e00, 0xec101e00, is_vector_load},
    {0xfe101e00, 0xec001e00, is_vector_store},
    {0xfe100c00, 0xec100800, is_float_load},
    {0xfe100c00, 0xec000800, is_float_store},
    {0xeff00e00, 0xeef00e00, is_vector_multiply}, /* VMLADAV */
    {0xef800f00, 0xee800e00, is_vector_multiply}, /* VMLALDAV */
    {0xef000c00, 0xee000800, is_float},
    {0xec000000, 0xec000000, is_vector},
    {0, 0, is_other},
};

struct region {
    uint64_t low, high;
    int id;
};

/* A block of translated code: the region it belongs to, where it is, and what one execution adds. */
struct block {
    const struct region *region;
    uint64_t start, end;
    uint32_t adds[CLASS_COUNT];
};

enum { MOST_REGIONS = 4096, OUTSIDE = -1 };
static struct region regions[MOST_REGIONS];
static size_t region_count;
static int current = OUTSIDE;
static uint64_t counts[CLASS_COUNT];
static FILE *out;
static uint64_t next, flash; /* the address behind the block that was executed last; where flash ends */

/* Lines of code that were used last. */
enum { LINE_BYTES = 16, LINES = 64 };
static uint64_t lines[LINES], used[LINES], now; /* number + 1; when */

/* 1 where a line had to be read. */
static uint64_t missed(uint64_t line)
{
    size_t oldest = 0;
    ++now;
    for (size_t i = 0; i < LINES; ++i) {
        if (lines[i] == line + 1) {
            used[i] = now;
            return 0;
        }
        oldest = used[i] < used[oldest] ? i : oldest;
    }
    lines[oldest] = line + 1;
    used[oldest] = now;
    return 1;
}

static enum class classify(const uint8_t *code, size_t bytes)
{
    const uint32_t first = code[0] | (uint32_t)code[1] << 8;
    const uint32_t word = bytes == 2 ? first : first << 16 | code[2] | (uint32_t)code[3] << 8;
    const struct encoding *line = bytes == 2 ? narrow : wide;
    while ((word & line->mask) != line->value) {
        ++line;
    }
    return line->class;
}

static int is_plain(enum class class)
{
    return class == is_load || class == is_store;
}

/* Of Helium: 1 computes, 2 accesses memory; 0 is no vector instruction. */
static int unit_of(enum class class)
{
    return class == is_vector || class == is_vector_multiply ? 1 : class == is_vector_load || class == is_vector_store ? 2 : 0;
}

static unsigned ones(unsigned bits)
{
    return bits == 0 ? 0 : (bits & 1) + ones(bits >> 1);
}

/* Registers beyond the first that an instruction loads or stores. */
static unsigned further_words(enum class class, const uint8_t *code, size_t bytes)
{
    const unsigned first = code[0] | (unsigned)code[1] << 8;
    const unsigned second = bytes == 2 ? 0 : code[2] | (unsigned)code[3] << 8;
    if (class == is_load_multiple || class == is_store_multiple) {
        const unsigned stacked = (first & 0xf600) == 0xb400 ? 0x1ff : 0xff;
        return ones(bytes == 2 ? first & stacked : second) - 1;
    }
    if ((class == is_float_load || class == is_float_store) && (first & 0x0f20) != 0x0d00) {
        return (second & 0xff) - 1;
    }
    return bytes == 4 && is_plain(class) && (first & 0xfe40) == 0xe840 && (first & 0x0120) != 0 ? 1 : 0; /* LDRD, STRD */
}

static void end_visit(void)
{
    if (current != OUTSIDE) {
        fprintf(out, "%d", current);
        for (size_t i = 0; i < CLASS_COUNT; ++i) {
            fprintf(out, " %" PRIu64, counts[i]);
        }
        fputc('\n', out);
    } else {
        fputs("-1\n", out);
    }
    memset(counts, 0, sizeof counts);
}

static void executed(unsigned int cpu, void *user)
{
    const struct block *block = user;
    (void)cpu;
    if (block->region != NULL && block->region->id != current) {
        end_visit();
        current = block->region->id;
    }
    for (size_t i = 0; i < CLASS_COUNT; ++i) {
        counts[i] += block->adds[i];
    }
    counts[is_taken] += block->start != next;
    next = block->end;
    if (block->start < flash) {
        for (uint64_t line = block->start / LINE_BYTES; line <= (block->end - 1) / LINE_BYTES; ++line) {
            counts[is_fetches] += missed(line);
        }
    }
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *code)
{
    const uint64_t start = qemu_plugin_tb_vaddr(code);
    struct block *block = calloc(1, sizeof *block);
    (void)id;
    if (block == NULL) {
        abort();
    }
    for (size_t i = 0; i < region_count; ++i) {
        if (regions[i].low <= start && start < regions[i].high) {
            block->region = &regions[i];
        }
    }
    block->start = block->end = start;
    enum class before = is_other;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(code); ++i) {
        const struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(code, i);
        const size_t size = qemu_plugin_insn_size(instruction);
        const enum class class = classify(qemu_plugin_insn_data(instruction), size);
        ++block->adds[class];
        block->adds[is_paired] += class == is_load && is_plain(before);
        block->adds[is_overlapped] += unit_of(class) != 0 && unit_of(before) != 0 && unit_of(class) != unit_of(before);
        block->adds[is_words] += further_words(class, qemu_plugin_insn_data(instruction), size);
        block->end += size;
        before = class;
    }
    qemu_plugin_register_vcpu_tb_exec_cb(code, executed, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void ended(qemu_plugin_id_t id, void *user)
{
    (void)id;
    (void)user;
    end_visit();
    fclose(out);
}

static int read_regions(const char *name)
{
    FILE *file = fopen(name, "r");
    if (file == NULL) {
        return -1;
    }
    while (region_count < MOST_REGIONS && fscanf(file, "%" SCNx64 " %" SCNx64 " %d", &regions[region_count].low,
                                                 &regions[region_count].high, &regions[region_count].id) == 3) {
        ++region_count;
    }
    fclose(file);
    return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "regions=", 8) == 0 && read_regions(argv[i] + 8) != 0) {
            return -1;
        }
        if (strncmp(argv[i], "out=", 4) == 0) {
            out = fopen(argv[i] + 4, "w");
        }
        if (strncmp(argv[i], "flash=", 6) == 0) {
            flash = strtoull(argv[i] + 6, NULL, 0);
        }
    }
    if (out == NULL) {
        return -1;
    }
    fputs("classes" CLASSES(AS_TEXT) EXTRAS(AS_TEXT) "\n", out);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
