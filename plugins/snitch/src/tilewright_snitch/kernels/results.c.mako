<%doc>
Needs type ("float", "double"), clip ("none", "low", "both"), limits, zero, marks (registers).
</%doc>\
<%
    packed = type == "float" and clip != "none"
    loaded = ("ft3", "ft4", "ft5", "ft6")
    row = f"tw_sn_{type}_{clip}_row"
%>\
% if packed:
#ifdef TW_SN_STREAMS
/* Whether none of 8 * `blocks` elements is infinite or NaN: minima and maxima would lose that. */
TW_KERNEL int ${row}_finite(const ${type} *from, int32_t blocks)
{
% for name in (zero, *marks):
    register double ${name} __asm__("${name}") = 0;
% endfor
    for (int32_t block = 0; block < blocks; ++block) {
        __asm__ volatile(
% for at, one in enumerate(loaded):
                "fld ${one}, ${8 * at}(%[from])\n\t"
% endfor
% for mark, one in zip(marks, loaded):
                TW_SN_VFMAC(${mark}, ${one}, ${zero})
% endfor
                : ${", ".join(f'"+f"({mark})' for mark in marks)}
                : [from] "r"(from + 8 * block), "f"(${zero})
                : ${", ".join(f'"{one}"' for one in loaded)}, "memory");
    }
    const ${type} sum = ${" + ".join(f"tw_sn_halves({mark})" for mark in marks)};
    return sum == sum;
}

TW_KERNEL void ${row}_blocks(const ${type} *from, ${type} *to, int32_t blocks, ${type} low, ${type} high)
{
    register double ${limits[0]} __asm__("${limits[0]}") = tw_sn_pair(low);
% if clip == "both":
    register double ${limits[1]} __asm__("${limits[1]}") = tw_sn_pair(high);
% else:
    (void)high;
% endif
    for (int32_t block = 0; block < blocks; ++block) {
        __asm__ volatile(
% for at, one in enumerate(loaded):
                "fld ${one}, ${8 * at}(%[from])\n\t"
% endfor
% for one in loaded:
                TW_SN_VFMAX(${one}, ${one}, ${limits[0]})
% endfor
% if clip == "both":
% for one in loaded:
                TW_SN_VFMIN(${one}, ${one}, ${limits[1]})
% endfor
% endif
% for at, one in enumerate(loaded):
                "fsd ${one}, ${8 * at}(%[to])\n\t"
% endfor
                :
                : [from] "r"(from + 8 * block), [to] "r"(to + 8 * block), "f"(${limits[0]})${f', "f"({limits[1]})' if clip == "both" else ""}
                : ${", ".join(f'"{one}"' for one in loaded)}, "memory");
    }
}
#endif

% endif
/* The fused activation of sums that are done; they may be where results are. */
TW_SN_APART void ${row}(const ${type} *from, ${type} *to, int32_t count, ${type} low, ${type} high)
{
    int32_t done = 0;
% if clip == "none":
    if (from == to) {
        return;
    }
% elif packed:
#ifdef TW_SN_STREAMS
    if (tw_sn_near(from) && tw_sn_near(to) && ${row}_finite(from, count / 8)) {
        ${row}_blocks(from, to, count / 8, low, high);
        done = count / 8 * 8;
    }
#endif
% endif
    for (; done < count; ++done) {
        to[done] = tw_sn_${type}_${clip}(from[done], low, high);
    }
}
