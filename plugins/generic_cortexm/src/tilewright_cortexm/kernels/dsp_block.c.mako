<%doc>
One block of code for each use: the dot products of `pixels` columns with every `channels` rows of weights,
requantised and stored.
With `bytes_of` ("i8" or "u8") the values are bytes that are widened here.
Needs block, pixels, channels, unroll, more, bytes_of, fixed, exact (which forms occur), shift, low, high.

Registers: r0 columns, r1 weights, r2 and r3 four widened values, r4..r9 sums, r10 to r12 and lr weights.
Stack: the fields of tw_dsp_block in their order, up to zero_point; with `more`, what columns differ by, then where the
struct is.
</%doc>\
#include "dsp_block.h"

<%
    sums = [[f"r{4 + p * channels + c}" for c in range(channels)] for p in range(pixels)]
    pairs = [list(range(c, min(c + 2, channels))) for c in range(0, channels, 2)]
    narrow = "ssat" if low < 0 else "usat"
    full = (low, high) in ((-128, 127), (0, 255))
    width = 8 if full else 16
    loads = {1: "ldr r10, [r1], #4", 2: "ldrd r10, r11, [r1], #8"}
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
<%def name="group()">\
% if bytes_of:
${line("ldr r3, [r0], #4")}\
${line(f"{'sxtb16' if bytes_of == 'i8' else 'uxtb16'} r2, r3")}\
${line(f"{'sxtb16' if bytes_of == 'i8' else 'uxtb16'} r3, r3, ror #8")}\
% elif pixels == 1:
${line("ldrd r2, r3, [r0], #8")}\
% endif
% for pair in pairs:
${line(loads[len(pair)])}\
% for at, c in enumerate(pair):
${line(f"sxtb16 {('r12', 'lr')[at]}, {('r10', 'r11')[at]}")}\
${line(f"sxtb16 {('r10', 'r11')[at]}, {('r10', 'r11')[at]}, ror #8")}\
% endfor
% for p in range(pixels):
% if pixels > 1:
${line("ldrd r2, r3, [r0], #8")}\
% endif
% for x, first in (("r2", ("r12", "lr")), ("r3", ("r10", "r11"))):
% for at, c in enumerate(pair):
${line(f"smlad {sums[p][c]}, {x}, {first[at]}, {sums[p][c]}")}\
% endfor
% endfor
% endfor
% endfor
</%def>\
<%def name="clamp(register)">\
% if not full:
% for bound, relation in ((low, "lt"), (high, "gt")):
${line(f"cmp {register}, #{bound}")}\
${line(f"it {relation}")}\
${line(f"mov{relation} {register}, #{bound}")}\
% endfor
% endif
</%def>\
#ifdef TW_DSP_ARM
TW_ASSEMBLER void ${block}(const tw_dsp_block *b __attribute__((unused)))
{
    __asm__ volatile(
${line("push {r4-r11, lr}")}\
% if more:
${line("push {r0}")}\
% endif
${line("ldmia r0, {r1-r9}")}\
${line("push {r1-r9}")}\
${line("mov r1, r3")}\
${line("1:")}\
${line("ldr r2, [sp, #12]")}\
% for pair in pairs:
% if len(pair) == 2:
${line(f"ldrd {sums[0][pair[0]]}, {sums[0][pair[1]]}, [r2, #{4 * pair[0]}]")}\
% else:
${line(f"ldr {sums[0][pair[0]]}, [r2, #{4 * pair[0]}]")}\
% endif
% endfor
% if more:
${line("ldr r12, [sp, #36]")}\
% endif
% for p in reversed(range(pixels)):
% if more:
${line(f"ldr r10, [r12, #{36 + 4 * p}]")}\
% endif
% for c in range(channels):
% if more:
${line(f"add {sums[p][c]}, {sums[0][c]}, r10")}\
% elif p:
${line(f"mov {sums[p][c]}, {sums[0][c]}")}\
% endif
% endfor
% endfor
${line("ldr r0, [sp]")}\
${line("2:")}\
% for step in range(unroll):
${group()}\
% endfor
${line("ldr r2, [sp, #4]")}\
${line("cmp r0, r2")}\
${line("bne 2b")}\
${line("ldr r2, [sp, #12]")}\
% for pair in pairs:
% if len(pair) == 2:
${line(f"ldrd r10, r11, [r2, #{4 * (channels + pair[0])}]")}\
% else:
${line(f"ldr r10, [r2, #{4 * (channels + pair[0])}]")}\
% endif
% if fixed and exact:
${line(f"cmp r10, #0")}\
${line(f"blt 3f")}\
% endif
% if fixed:
${line("ldr r3, [sp, #28]")}\
% for at, c in enumerate(pair):
% for p in range(pixels):
${line(f"smmla {sums[p][c]}, {sums[p][c]}, r{10 + at}, r3")}\
${line(f"{narrow if full else 'ssat'} {sums[p][c]}, #{width}, {sums[p][c]}, asr #{shift}")}\
% endfor
% endfor
% endif
% if fixed and exact:
${line(f"b 4f")}\
${line(f"3:")}\
% endif
% if exact:
${line("ldr r3, [sp, #32]")}\
% for at, c in enumerate(pair):
${line(f"vmov s1, r{10 + at}")}\
${line("vabs.f32 s1, s1")}\
% for p in range(pixels):
${line(f"vmov s0, {sums[p][c]}")}\
${line("vcvt.f32.s32 s0, s0")}\
${line("vmul.f32 s0, s0, s1")}\
${line("vcvtr.s32.f32 s0, s0")}\
${line(f"vmov {sums[p][c]}, s0")}\
${line(f"qadd {sums[p][c]}, {sums[p][c]}, r3")}\
${line(f"{narrow if full else 'ssat'} {sums[p][c]}, #{width}, {sums[p][c]}")}\
% endfor
% endfor
% endif
% if fixed and exact:
${line(f"4:")}\
% endif
% endfor
% for c in range(channels):
% for p in range(pixels):
${clamp(sums[p][c])}\
% endfor
% endfor
${line(f"adds r2, #{8 * channels}")}\
${line("str r2, [sp, #12]")}\
${line("ldr r2, [sp, #16]")}\
% if pixels == 1:
% for c in range(channels):
${line(f"strb {sums[0][c]}, [r2], #1")}\
% endfor
% else:
${line("ldr r3, [sp, #20]")}\
% for c in range(channels):
${line(f"strb {sums[1][c]}, [r2, r3]")}\
% if pixels > 2:
${line(f"strb {sums[2][c]}, [r2, r3, lsl #1]")}\
% endif
${line(f"strb {sums[0][c]}, [r2], #1")}\
% endfor
% endif
${line("str r2, [sp, #16]")}\
${line("ldr r2, [sp, #24]")}\
${line("subs r2, #1")}\
${line("str r2, [sp, #24]")}\
${line("bne 1b")}\
${line(f"add sp, #{40 if more else 36}")}\
        "pop {r4-r11, pc}"
        ::: "memory");
}
#else
static void ${block}(const tw_dsp_block *b)
{
    const uint32_t *w = b->w;
    for (int32_t i = 0; i < b->blocks; ++i) {
        const int32_t *const p = b->parameters + i * ${2 * channels};
% if pixels == 1:
        for (int32_t c = 0; c < ${channels}; ++c) {
% else:
        for (int32_t result = 0; result < ${pixels * channels}; ++result) {
            const int32_t j = result / ${channels}, c = result % ${channels};
% endif
            int32_t sum = p[c]${(" + b->more[0]" if pixels == 1 else " + b->more[j]") if more else ""};
            const uint32_t *v = w + c;
% if bytes_of:
            for (const uint32_t *x = b->columns; x < b->end; ++x, v += ${channels}) {
                sum = tw_dsp_mlad(tw_dsp_even_${bytes_of}(*x), tw_dsp_even_i8(*v), sum);
                sum = tw_dsp_mlad(tw_dsp_odd_${bytes_of}(*x), tw_dsp_odd_i8(*v), sum);
            }
% else:
            for (const uint32_t *x = b->columns${"" if pixels == 1 else " + 2 * j"}; x < b->end; x += ${2 * pixels}, v += ${channels}) {
                sum = tw_dsp_mlad(x[0], tw_dsp_even_i8(*v), sum);
                sum = tw_dsp_mlad(x[1], tw_dsp_odd_i8(*v), sum);
            }
% endif
            b->y[${"" if pixels == 1 else "j * b->apart + "}i * ${channels} + c] = (uint8_t)tw_dsp_requant(sum, p[${channels} + c], b->above,
                ${shift}, b->zero_point, ${low}, ${high});
        }
        w += (b->end - b->columns) / ${1 if bytes_of else 2 * pixels} * ${channels};
    }
}
#endif
