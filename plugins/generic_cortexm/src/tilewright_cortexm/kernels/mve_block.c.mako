<%doc>
One block of code for each use: the dot products of `pixels` runs of values with every `channels` rows of weights,
requantised and stored. Needs block, shape, end, pixels, channels, unroll, tail, jump (bytes that values skip behind a trip of
the loop), words (values have 16 bits), lanes (values of a step), low, high, products.
</%doc>\
#include "mve.h"
#include "mve_block.h"

<%
    parts = [f"TW_MVE_{shape}_BEGIN"]
    skips = [f'"addw {value}, {value}, #{jump}\\n\\t"' for value in ("r1", "r3")[:pixels] if jump]
    if unroll:
        # the assembler repeats what is long: ISO C needs no string literal beyond 4,095 letters
        once = [f"TW_MVE_{shape}_SIXTEEN"]
        trip = [f'".rept {unroll}\\n\\t"', *once, '".endr\\n\\t"'] if unroll > 2 else once * unroll
        apart = "\n            " if words and skips else " "
        parts.append(f"TW_MVE_{shape}_LOOP({apart.join((' '.join(trip), *([' '.join(skips)] if skips else [])))})")
    if tail:
        parts.append(f"TW_MVE_{shape}_LAST({tail})")
%>\
#ifdef TW_MVE_ARM
TW_ASSEMBLER void ${block}(const tw_mve_block *b __attribute__((unused)))
{
    __asm__ volatile(
% for part in parts:
        ${part}
% endfor
        TW_MVE_${shape}_END_${end} ::: "memory");
}
#else
static void ${block}(const tw_mve_block *b)
{
    ${products}(b, ${pixels}, ${channels}, ${f"b->steps * {lanes * unroll}, {lanes * unroll}, {jump}" if unroll else "0, 1, 0"}, \
${tail}, ${low}, ${high});
}
#endif
