<%doc>
Needs function, type ("float", "double": of values), kind, stored (the C type in memory), load and rounded (between them),
clip ("none", "low", "both"), expression (of a and b), inputs ("a", "b", or "a" alone), register (the input that is one value for all of a row, or ""), body (lines of a repetition), words (eight bytes of
output in a repetition), repeat (how often more a stream gives an element), marks, zero, limits, value (registers), clobbered.
</%doc>\
<%
    double, half = type == "double", stored == "uint16_t"
    lanes = 1 if double else 4 if half else 2
    size = 8 // lanes
    streamed = [one for one in inputs if one != register]
    pair = "" if double else "tw_sn_four" if half else "tw_sn_pair"
    values = "".join(load(f"{one}[(row * p->{one}_row) + (i * p->{one}_step)]") + ", " for one in inputs)
    apart = "tw_sn_quarters" if half else "tw_sn_halves"
    total = " + ".join(marks)
%>\
/* What there is to do: rows of `count` elements. Steps are in elements. */
typedef struct {
    int32_t rows;
    int32_t count;
% for one in (*inputs, "y"):
    int32_t ${one}_row;
    int32_t ${one}_step;
% endfor
} ${function}_rows;

TW_KERNEL ${type} ${function}_one(${"".join(f"{type} {one}, " for one in inputs)}${type} low, ${type} high)
{
    const ${type} value = ${expression};
% if clip == "none":
    (void)low;
    (void)high;
    return value;
% elif clip == "low":
    (void)high;
    return (value < low) ? low : value;
% else:
    return (value < low) ? low : ((value > high) ? high : value);
% endif
}

#ifdef TW_SN_STREAMS
/* `rows` rows of `words` words, together a multiple of ${words}. Returns 0, or NaN where minima and maxima may be lost. */
TW_SN_APART ${type} ${function}_streams(const ${function}_rows *p, uint32_t words, uint32_t rows, ${type} low, ${type} high,
        ${"".join(f"const {stored} *{one}, " for one in inputs)}${stored} *y)
{
    const uint32_t again = ${"words * rows" if words == 1 else f"words * rows / {words}u"} - 1u;
    const int32_t row = (int32_t)(words - 1u) * 8;
% if half:
    tw_sn_${kind}_mode(3u);
% endif
% if register:
    register double given __asm__("${value}") = ${pair}(${load(f"*{register}")});
% endif
% if clip == "none":
    (void)low;
% else:
% for mark in marks:
    register double ${mark} __asm__("${mark}") = 0;
% endfor
    register double ${zero} __asm__("${zero}") = 0;
    register double lowest __asm__("${limits[0]}") = ${pair}(low);
% endif
% if clip == "both":
    register double highest __asm__("${limits[1]}") = ${pair}(high);
% else:
    (void)high;
% endif
    tw_sn_settle();
% for stream, pointer in [*enumerate(streamed), (2, "y")]:
    TW_SN_SET(${stream}, 1, ${repeat if stream < 2 else 0});
    TW_SN_SET(${stream}, 2, words - 1u);
    TW_SN_SET(${stream}, 3, rows - 1u);
    TW_SN_SET(${stream}, 6, 8);
    TW_SN_SET(${stream}, 7, p->${pointer}_row * ${size} - row);
    TW_SN_SET(${stream}, ${25 if stream < 2 else 29}, ${pointer});
% endfor
    tw_sn_on();
    __asm__ volatile(
        TW_SN_REPEAT("%[again]", ${len(body)})
% for line in body:
        ${line}
% endfor
        : ${", ".join(f'"+f"({mark})' for mark in marks) if clip != "none" else ""}
        : [again] "r"(again)${', "f"(given)' if register else ""}\
${f', "f"({zero}), "f"(lowest)' if clip != "none" else ""}${', "f"(highest)' if clip == "both" else ""}
        : ${", ".join(f'"{one}"' for one in clobbered)}, "memory");
    tw_sn_written();
    tw_sn_off();
% if clip == "none":
    const ${type} wild = 0;
% elif double:
    const ${type} wild = ${total};
% else:
    const ${type} wild = ${" + ".join(f"{apart}({mark})" for mark in marks)};
% endif
% if half:
    tw_sn_${kind}_mode(0u);
% endif
    return wild;
}

TW_KERNEL int ${function}_near(${"".join(f"const {stored} *{one}, " for one in streamed)}${stored} *y)
{
    return ${" && ".join(f"tw_sn_near({one})" for one in (*streamed, "y"))};
}
#endif

TW_KERNEL void ${function}_plain(const ${function}_rows *p, int32_t row, int32_t from, ${type} low, ${type} high,
        ${"".join(f"const {stored} *{one}, " for one in inputs)}${stored} *y)
{
    for (int32_t i = from; i < p->count; ++i) {
        y[(row * p->y_row) + (i * p->y_step)] = ${rounded(f"{function}_one({values}low, high)")};
    }
}

/* y = ${expression}${"" if clip == "none" else ", clipped"}, element by element. */
TW_SN_APART void ${function}(const ${function}_rows p, ${type} low, ${type} high,
        ${"".join(f"const {stored} *{one}, " for one in inputs)}${stored} *y)
{
#ifdef TW_SN_STREAMS
    if (${" && ".join(f"p.{one}_step == 1" for one in (*streamed, "y"))} && (p.count >= ${words * lanes})) {
        ${type} wild = 0;
        int32_t done = 0;
% if not register:
        if (p.rows >= ${words} && ((${" | ".join(["p.count", *(f"p.{one}_row" for one in (*streamed, "y"))])}) & ${lanes - 1}) == 0
            && ${function}_near(${", ".join((*streamed, "y"))})) {
            done = p.rows / ${words} * ${words};
            wild = ${function}_streams(&p, (uint32_t)p.count / ${lanes}u, (uint32_t)done, low, high, ${", ".join((*inputs, "y"))});
        }
% endif
        for (; done < p.rows; ++done) {
% for one in (*inputs, "y"):
            ${"" if one == "y" else "const "}${stored} *const ${one}r = ${one} + done * p.${one}_row;
% endfor
            int32_t from = 0;
            if (${function}_near(${", ".join(f"{one}r" for one in (*streamed, "y"))})) {
                const uint32_t times = (uint32_t)p.count / ${words * lanes}u;
                wild += ${function}_streams(&p, times * ${words}u, 1u, low, high, ${", ".join(f"{one}r" for one in (*inputs, "y"))});
                from = (int32_t)times * ${words * lanes};
            }
            ${function}_plain(&p, done, from, low, high, ${", ".join((*inputs, "y"))});
        }
        if (wild == wild) {
            return;
        }
    }
#endif
    for (int32_t row = 0; row < p.rows; ++row) {
        ${function}_plain(&p, row, 0, low, high, ${", ".join((*inputs, "y"))});
    }
}
