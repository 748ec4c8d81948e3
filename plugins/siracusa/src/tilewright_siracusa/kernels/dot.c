<%doc>
Needs kind: "ss", "us", "su" or "uu", whether the bytes of x and of the weights are signed.
</%doc>\
<%
    name = {"ss": "SDOTSP", "us": "SDOTUSP", "su": "SDOTUSP", "uu": "SDOTUP"}[kind]
    def product(sum, x, w):
        first, second = (w, x) if kind == "su" else (x, w)
        return f"TW_XP_{name}(%[{sum}], %[{first}], %[{second}])"
    def portable(sum, x, w):
        return f"tw_xp_sdot_us({sum}, {w}, {x})" if kind == "su" else f"tw_xp_sdot_{kind}({sum}, {x}, {w})"
%>\
#ifndef TW_XP_DOT_${kind.upper()}
#define TW_XP_DOT_${kind.upper()}
% for pixels in (2, 1):
<% sums = [f"s{i}" for i in range(4 * pixels)] %>\
/* ${"Two pixels" if pixels == 2 else "One pixel"} and four channels, `words` steps of four products each, one at least: x moves by `step` bytes, 4 or 0.
 * Weights are stored in the order in which they are read. Returns where they end. */
TW_KERNEL const uint8_t *tw_xp_dot${pixels}_${kind}(int32_t words, \
${"".join(f"const uint8_t *x{i}, int32_t step{i}, " for i in range(pixels))}
        const uint8_t *w, int32_t *acc)
{
    int32_t ${", ".join(f"{s} = acc[{i}]" for i, s in enumerate(sums))};
#ifdef TW_XP_ASM
    uint32_t w0, w1, w2, ${", ".join(f"a{i}" for i in range(pixels))};
    __asm__ volatile(
        TW_XP_LOOP(${4 + 5 * pixels})
        TW_XP_LW(%[w0], %[w], 4)
        TW_XP_LW_BY(%[a0], %[x0], %[step0])
        TW_XP_LW(%[w1], %[w], 4)
% if pixels == 2:
        TW_XP_LW_BY(%[a1], %[x1], %[step1])
% endif
        TW_XP_LW(%[w2], %[w], 4)
% for channel in range(4):
% for pixel in range(pixels):
        ${product(sums[4 * pixel + channel], f"a{pixel}", f"w{channel % 3}")}
% endfor
% if channel == 0:
        TW_XP_LW(%[w0], %[w], 4)
% endif
% endfor
        TW_XP_LOOP_END
        : ${", ".join(f'[{s}] "+r"({s})' for s in sums)},
          [w] "+r"(w), ${", ".join(f'[x{i}] "+r"(x{i}), [a{i}] "=&r"(a{i})' for i in range(pixels))},
          [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2)
        : [trips] "r"(words), ${", ".join(f'[step{i}] "r"(step{i})' for i in range(pixels))}
        : "memory");
#else
    for (int32_t i = 0; i < words; ++i, w += 16) {
% for i in range(pixels):
        const uint32_t a${i} = tw_xp_load(x${i});
        x${i} += step${i};
% endfor
% for i, s in enumerate(sums):
        ${s} = ${portable(s, f"a{i // 4}", f"tw_xp_load(w + {4 * (i % 4)})")};
% endfor
    }
#endif
% for i, s in enumerate(sums):
    acc[${i}] = ${s};
% endfor
    return w;
}

% endfor
#endif
