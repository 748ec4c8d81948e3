<%doc>
Needs odd (whether the zero point of results is odd: then it is added after rounding, or halves would round the other way).
</%doc>\
<%
    name = f"tw_sn_bytes_{'odd' if odd else 'even'}"
    pairs, uppers = ("ft3", "ft4", "ft5", "ft6"), ("ft7", "fa0", "fa1", "fa2")
    steps = [("VFMAX", "low"), ("VFMIN", "high"), ("VFADD", "magic"), *([("VFADD", "zero")] if odd else [])]
%>\
#ifdef TW_SN_STREAMS
/* Eight outputs of so many pixels, two in a register; lower halves are stored as they are, upper ones by `lanes`. */
TW_KERNEL void ${name}_eight(const tw_sn_bytes *k, const float *sums, int32_t step, int32_t pixels, const float *biases,
        uint8_t *y, int32_t y_column, float *lanes)
{
    const double low = tw_sn_pair((float)(k->low - k->zero_point));
    const double high = tw_sn_pair((float)(k->high - k->zero_point));
% if odd:
    const double magic = tw_sn_pair(12582912.0f);
    const double zero = tw_sn_pair((float)k->zero_point);
% else:
    const double magic = tw_sn_pair(12582912.0f + (float)k->zero_point);
% endif
    double ${", ".join(f"b{at}, s{at}" for at in range(4))};
    __asm__ volatile(
% for at in range(4):
            "fld %${at}, ${8 * at}(%8)\n\t"
            "fld %${4 + at}, ${8 * at}(%9)\n\t"
% endfor
            : ${", ".join([f'"=&f"(b{at})' for at in range(4)] + [f'"=&f"(s{at})' for at in range(4)])}
            : "r"(biases), "r"(biases + k->scales)
            : "memory");
    for (int32_t j = 0; j < pixels; ++j) {
        __asm__ volatile(
% for at, one in enumerate(pairs):
            "fld ${one}, ${8 * at}(%[from])\n\t"
% endfor
% for at, one in enumerate(pairs):
            TW_SN_VFADD(${one}, ${one}, %[b${at}])
% endfor
% for at, one in enumerate(pairs):
            TW_SN_VFMUL(${one}, ${one}, %[s${at}])
% endfor
% for line, last in steps:
% for one in pairs:
            TW_SN_${line}(${one}, ${one}, %[${last}])
% endfor
% endfor
% for at, one in enumerate(pairs):
            "fsd ${one}, ${8 * at}(%[lanes])\n\t"
% endfor
% for at, one in enumerate(pairs):
            TW_SN_FSB("${one}", "${2 * at}(%[to])")
% endfor
% for at, one in enumerate(uppers):
            "flw ${one}, ${8 * at + 4}(%[lanes])\n\t"
% endfor
% for at, one in enumerate(uppers):
            TW_SN_FSB("${one}", "${2 * at + 1}(%[to])")
% endfor
            :
            : [from] "r"(sums), [to] "r"(y), [lanes] "r"(lanes),
              ${", ".join(f'[b{at}] "f"(b{at}), [s{at}] "f"(s{at})' for at in range(4))},
              [low] "f"(low), [high] "f"(high), [magic] "f"(magic)${', [zero] "f"(zero)' if odd else ""}
            : ${", ".join(f'"{one}"' for one in (*pairs, *uppers))}, "memory");
        sums += step;
        y += y_column;
    }
}

/* Four outputs of so many pixels, wherever they are. */
TW_KERNEL void ${name}_four(const tw_sn_bytes *k, const float *sums, int32_t step, int32_t pixels, const float *biases,
        uint8_t *y, int32_t y_column)
{
    const float low = (float)(k->low - k->zero_point);
    const float high = (float)(k->high - k->zero_point);
    const float *const scales = biases + k->scales;
% if odd:
    const float magic = 12582912.0f;
    const float zero = (float)k->zero_point;
% else:
    const float magic = 12582912.0f + (float)k->zero_point;
% endif
% for at in range(4):
    const float b${at} = biases[${at}];
% endfor
% for at in range(4):
    const float s${at} = scales[${at}];
% endfor
    for (int32_t j = 0; j < pixels; ++j) {
        __asm__ volatile(
% for at, one in enumerate(pairs):
            "flw ${one}, ${4 * at}(%[from])\n\t"
% endfor
% for at, one in enumerate(pairs):
            "fadd.s ${one}, ${one}, %[b${at}]\n\t"
% endfor
% for at, one in enumerate(pairs):
            "fmul.s ${one}, ${one}, %[s${at}]\n\t"
% endfor
% for line, last in steps:
% for one in pairs:
            "f${line[2:].lower()}.s ${one}, ${one}, %[${last}]\n\t"
% endfor
% endfor
% for at, one in enumerate(pairs):
            TW_SN_FSB("${one}", "${at}(%[to])")
% endfor
            :
            : [from] "r"(sums), [to] "r"(y), ${", ".join(f'[b{at}] "f"(b{at}), [s{at}] "f"(s{at})' for at in range(4))},
              [low] "f"(low), [high] "f"(high), [magic] "f"(magic)${', [zero] "f"(zero)' if odd else ""}
            : ${", ".join(f'"{one}"' for one in pairs)}, "memory");
        sums += step;
        y += y_column;
    }
}
#endif

/* Results of so many pixels, whose sums are `step` floats apart. `lanes`: 32 bytes of this core's own. */
TW_SN_APART void ${name}(const tw_sn_bytes *k, const float *sums, int32_t step, int32_t pixels, const float *biases, uint8_t *y,
        int32_t y_column, float *lanes)
{
    int32_t o = 0;
#ifdef TW_SN_STREAMS
    const int32_t pairs = (((step | k->scales) & 1) == 0) && (((uint32_t)(uintptr_t)sums | (uint32_t)(uintptr_t)biases) % 8u == 0u);
    for (; pairs && ((o + 8) <= k->outputs); o += 8) {
        ${name}_eight(k, sums + o, step, pixels, biases + o, y + o, y_column, lanes);
    }
    for (; (o + 4) <= k->outputs; o += 4) {
        ${name}_four(k, sums + o, step, pixels, biases + o, y + o, y_column);
    }
    tw_sn_settle(); /* registers that this saved are on the stack before others use it */
#else
    (void)lanes;
#endif
    for (; o < k->outputs; ++o) {
        for (int32_t j = 0; j < pixels; ++j) {
            y[(j * y_column) + o] = tw_sn_byte_of(k, sums[(j * step) + o], biases[o], biases[k->scales + o]);
        }
    }
}
