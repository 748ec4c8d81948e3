<%doc>
Needs kind ("f16", "bf16"): how floats of 16 bits are read and written.
</%doc>\
/* So many as float32, `step` elements apart; in the mode of their format, as the next. */
TW_SN_APART void tw_sn_${kind}_widen(const uint16_t *from, int32_t step, int32_t count, float *to)
{
    int32_t i = 0;
#ifdef TW_SN_STREAMS
    for (; (step == 1) && ((i + 4) <= count); i += 4) {
        float one;
        float two;
        float three;
        float four;
        __asm__ volatile(TW_SN_FLH("%0", "0(%4)") TW_SN_FLH("%1", "2(%4)") TW_SN_FLH("%2", "4(%4)") TW_SN_FLH("%3", "6(%4)")
                         TW_SN_WIDE("%0") TW_SN_WIDE("%1") TW_SN_WIDE("%2") TW_SN_WIDE("%3")
                         : "=&f"(one), "=&f"(two), "=&f"(three), "=&f"(four)
                         : "r"(from + i)
                         : "memory");
        to[i] = one;
        to[i + 1] = two;
        to[i + 2] = three;
        to[i + 3] = four;
    }
    for (; i < count; ++i) {
        __asm__ volatile(TW_SN_FLH("%0", "0(%1)") TW_SN_WIDE("%0") : "=&f"(to[i]) : "r"(from + i * step) : "memory");
    }
#else
    for (; i < count; ++i) {
        to[i] = tw_f32_of_${kind}(from[i * step]);
    }
#endif
}

/* So many float32, each rounded once, to places `step` elements apart. */
TW_SN_APART void tw_sn_${kind}_narrow(const float *from, int32_t count, uint16_t *to, int32_t step)
{
    int32_t i = 0;
#ifdef TW_SN_STREAMS
    for (; (step == 1) && ((i + 4) <= count); i += 4) {
        float one = from[i];
        float two = from[i + 1];
        float three = from[i + 2];
        float four = from[i + 3];
        __asm__ volatile(TW_SN_NARROW("%0") TW_SN_NARROW("%1") TW_SN_NARROW("%2") TW_SN_NARROW("%3")
                         TW_SN_FSH("%0", "0(%4)") TW_SN_FSH("%1", "2(%4)") TW_SN_FSH("%2", "4(%4)") TW_SN_FSH("%3", "6(%4)")
                         : "+f"(one), "+f"(two), "+f"(three), "+f"(four)
                         : "r"(to + i)
                         : "memory");
    }
    for (; i < count; ++i) {
        float one = from[i];
        __asm__ volatile(TW_SN_NARROW("%0") TW_SN_FSH("%0", "0(%1)") : "+f"(one) : "r"(to + i * step) : "memory");
    }
#else
    for (; i < count; ++i) {
        to[i * step] = tw_${kind}_of_f32(from[i]);
    }
#endif
}
