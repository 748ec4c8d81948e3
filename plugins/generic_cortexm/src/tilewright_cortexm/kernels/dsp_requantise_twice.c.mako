<%doc> Needs requantise (the function's name), shift, narrowed (a name of `narrow`). </%doc>\
/* An accumulator becomes a result; see tw_dsp_twice. */
TW_KERNEL uint8_t ${requantise}(int32_t acc, int32_t multiplier, int32_t above, int32_t amount)
{
    return (uint8_t)${narrowed}(tw_dsp_twice(acc, multiplier, above, amount, ${shift}));
}
