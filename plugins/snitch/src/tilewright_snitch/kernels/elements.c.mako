<%doc>
Needs function, type ("float", "double"), clip ("none", "low", "both"), sign (+, -, *), body (lines of a
repetition), at_once (its elements).
</%doc>\
<%
    double = type == "double"
    size = 8 if double else 4
%>\
TW_KERNEL ${type} ${function}_one(${type} a, ${type} b, ${type} low, ${type} high)
{
    const ${type} value = a ${sign} b;
% if clip == "none":
    (void)low;
    (void)high;
    return value;
% elif clip == "low":
    (void)high;
    return value < low ? low : value;
% else:
    return value < low ? low : (value > high ? high : value);
% endif
}

#ifdef TW_SN_STREAMS
/* What leaves the float unit through memory comes back into it: the integer core would read too early.
 * `times` repetitions of ${at_once} elements. Returns 0, or NaN where something infinite or no number was clipped. */
TW_SN_APART ${type} ${function}_streams(uint32_t times, ${type} low, ${type} high, const ${type} *a, const ${type} *b, ${type} *y)
{
    const uint32_t last = times * ${at_once * size // 8}u - 1u, again = times - 1u;
% if clip != "none":
% for mark in marks:
    register double ${mark} __asm__("${mark}") = 0;
% endfor
    register double ${zero} __asm__("${zero}") = 0;
% if double:
    register double lowest __asm__("${limits[0]}") = low;
% if clip == "both":
    register double highest __asm__("${limits[1]}") = high;
% endif
% else:
    double room;
    register double lowest __asm__("${limits[0]}");
    __asm__ volatile("fsw %1, 0(%2)\n\tfsw %1, 4(%2)\n\tfld %0, 0(%2)" : "=f"(lowest) : "f"(low), "r"(&room) : "memory");
% if clip == "both":
    register double highest __asm__("${limits[1]}");
    __asm__ volatile("fsw %1, 0(%2)\n\tfsw %1, 4(%2)\n\tfld %0, 0(%2)" : "=f"(highest) : "f"(high), "r"(&room) : "memory");
% else:
    (void)high;
% endif
% endif
% endif
    tw_sn_settle();
% for stream, pointer, index in ((0, "a", 24), (1, "b", 24), (2, "y", 28)):
    TW_SN_SET(${stream}, 1, 0);
    TW_SN_SET(${stream}, 2, last);
    TW_SN_SET(${stream}, 6, 8);
    TW_SN_SET(${stream}, ${index}, ${pointer});
% endfor
    tw_sn_on();
    __asm__ volatile(
        TW_SN_REPEAT("%[again]", ${len(body)})
% for line in body:
        ${line}
% endfor
        : ${", ".join(f'"+f"({mark})' for mark in marks) if clip != "none" else ""}
        : [again] "r"(again)${f', "f"({zero}), "f"(lowest)' if clip != "none" else ""}${', "f"(highest)' if clip == "both" else ""}
        : ${", ".join(f'"{one}"' for one in clobbered)}, "memory");
    tw_sn_off();
% if clip == "none":
    (void)low;
    (void)high;
    return 0;
% else:
% if double:
% if clip == "low":
    (void)high;
% endif
    return ${" + ".join(marks)};
% else:
    float wild, other;
    __asm__ volatile(TW_SN_VFADD(${marks[0]}, ${marks[0]}, ${marks[1]}) TW_SN_VFADD(${marks[2]}, ${marks[2]}, ${marks[3]})
                     TW_SN_VFADD(${marks[0]}, ${marks[0]}, ${marks[2]})
                     "fsd ${marks[0]}, 0(%[room])\n\tflw %[wild], 0(%[room])\n\tflw %[other], 4(%[room])"
                     : [wild] "=&f"(wild), [other] "=&f"(other)${"".join(f', "+f"({mark})' for mark in marks)}
                     : [room] "r"(&room)
                     : "memory");
    return wild + other;
% endif
% endif
}
#endif

/* y = clip(a ${sign} b), element by element. */
TW_SN_APART void ${function}(int32_t count, ${type} low, ${type} high, const ${type} *a, int32_t a_step, const ${type} *b,
        int32_t b_step, ${type} *y, int32_t y_step)
{
    int32_t done = 0;
#ifdef TW_SN_STREAMS
    if (a_step == 1 && b_step == 1 && y_step == 1 && count >= ${at_once} && tw_sn_near(a) && tw_sn_near(b) && tw_sn_near(y)) {
        const uint32_t times = (uint32_t)count / ${at_once}u;
        const ${type} wild = ${function}_streams(times, low, high, a, b, y);
        done = wild == wild ? (int32_t)times * ${at_once} : 0;
    }
#endif
    for (int32_t i = done; i < count; ++i) {
        y[i * y_step] = ${function}_one(a[i * a_step], b[i * b_step], low, high);
    }
}
