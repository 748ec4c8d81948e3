
/* What every step may write; all other bytes are at its end what they were at its beginning. */
static const struct {
    uint32_t step;
    uint32_t area;
    size_t offset;
    size_t bytes;
} writable[] = {
% for one in ranges:
    {${one.step}u, ${one.area}u, ${one.offset_bytes}u, ${one.size_bytes}u},
% endfor
    {UINT32_MAX, 0u, 0u, 0u},
};

static uint8_t *kept[AREAS + 1];

static void keep_all(void)
{
    for (size_t i = 0; i < AREAS; ++i) {
        if (kept[i] == NULL && (kept[i] = (uint8_t *)malloc(area_bytes(i) + 1u)) == NULL) {
            fail("out of memory for a copy of ", "the plan's memory");
        }
        bytes_copy(kept[i], area_base(i), area_bytes(i));
    }
}

/* Bytes `from` up to `to` of an area, which this step may not write. */
static void demand_kept(uint32_t step, size_t area, size_t from, size_t to)
{
    const uint8_t *now = area_base(area);
    FILE *file;
    if (from >= to || bytes_equal(now + from, kept[area] + from, to - from)) {
        return;
    }
    while (bytes_equal(now + from, kept[area] + from, 1u)) {
        ++from;
    }
    while (bytes_equal(now + to - 1u, kept[area] + to - 1u, 1u)) {
        --to;
    }
    file = fopen("${file}", "w");
    if (file != NULL) {
        fprintf(file, "%lu %lu %lu %lu\n", (unsigned long)step, (unsigned long)area, (unsigned long)from,
                (unsigned long)(to - 1u));
        fclose(file);
    }
    _Exit(4);
}

static void demand_others_kept(uint32_t step)
{
    size_t k = 0;
    while (writable[k].step < step) {
        ++k;
    }
    for (size_t i = 0; i < AREAS; ++i) {
        size_t at = 0;
        for (; writable[k].step == step && writable[k].area == i; ++k) {
            demand_kept(step, i, at, writable[k].offset);
            at = writable[k].offset + writable[k].bytes;
        }
        demand_kept(step, i, at, area_bytes(i));
    }
}
