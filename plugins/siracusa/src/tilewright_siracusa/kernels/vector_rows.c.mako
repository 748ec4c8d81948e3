<%doc>
Needs kind ("ss" or "us", whether x is signed), nibbles (whether two channels share a byte of weights, see nibbles.h).
</%doc>\
#include "xpulp.h"

<%
    instruction = {"ss": "SDOTSP", "us": "SDOTUSP"}[kind]
%>\
% for channels in (4, 2, 1):
<%
    name = f"tw_xp_vector{channels}_{kind}{'_nibbles' if nibbles else ''}"
    shared = 2 if nibbles else 1
    rows = (channels + shared - 1) // shared
    sums, weights, words = ([f"{letter}{i}" for i in range(count)] for letter, count in zip("swv", (channels, rows, rows)))
    *others, last = [f"TW_XP_LW(%[{v}], %[{w}], 4)" for v, w in zip(words, weights)]
    add = lambda s, v: f"TW_XP_{instruction}(%[{s}], %[a], %[{v}])"
    x = "TW_XP_LW(%[a], %[x], 4)"
    body = [*others, x, last] if nibbles or channels > 1 else [last, x]
    if nibbles:
        body.append(add("total", "ones"))
        for pair, v in enumerate(words):
            both = sums[2 * pair : 2 * pair + 2]
            body += [add(both[0], v), *(line for s in both[1:] for line in (f"TW_XP_AND(%[{v}], %[{v}], %[low])", add(s, v)))]
    else:
        body += [add(s, v) for s, v in zip(sums, words)]
%>\
/* ${channels} channel${"s" if channels > 1 else ""} of one row: `words` words of x, one at least, with each ${"pair" if nibbles else "channel"}'s row of weights. \
${"Adds x up, too. " if nibbles else ""}*/
TW_KERNEL ${"int32_t" if nibbles else "void"} ${name}(int32_t words, const uint8_t *x, const uint8_t *w, int32_t row, int32_t *acc)
{
% for i, s in enumerate(sums):
    int32_t ${s} = acc[${i}];
% endfor
% if nibbles:
    int32_t total = 0;
% endif
#ifdef TW_XP_ASM
    const uint8_t ${", ".join(f"*{w} = {added('w', times(i, 'row'))}" for i, w in enumerate(weights))};
    uint32_t a, ${", ".join(words)};
    __asm__ volatile(
        TW_XP_LOOP(${len(body)})
% for line in body:
        ${line}
% endfor
        TW_XP_LOOP_END
        : ${", ".join([*(f'[{s}] "+&r"({s})' for s in sums), *(f'[{w}] "+&r"({w}), [{v}] "=&r"({v})' for w, v in zip(weights, words))])},
          ${'[total] "+&r"(total), ' if nibbles else ""}[x] "+&r"(x), [a] "=&r"(a)
        : [trips] "r"(words)${', [ones] "r"(TW_XP_ONES), [low] "r"(TW_XP_LOWER)' if nibbles else ""}
        : "memory");
% if rows == 1:
    (void)row;
% endif
#else
    for (int32_t i = 0; i < words; ++i) {
        const uint32_t a = tw_xp_load(x + (4 * i));
% for i, s in enumerate(sums):
<% at = i // shared %>\
        ${s} = tw_xp_sdot_${kind}(${s}, a, tw_xp_load(w + ${f"(({times(at, 'row')}) + (4 * i))" if at > 1 else "(row + (4 * i))" if at else "(4 * i)"})${" & TW_XP_LOWER" if nibbles and i % 2 else ""});
% endfor
% if nibbles:
        total = tw_xp_sdot_${kind}(total, a, TW_XP_ONES);
% endif
    }
% if rows == 1:
    (void)row;
% endif
#endif
% for i, s in enumerate(sums):
    acc[${i}] = ${s};
% endfor
% if nibbles:
    return total;
% endif
}

% endfor
