<%doc>
Needs kind ("f16", "bf16").
</%doc>\
/* Which format instructions on 16 bits mean: 0 is float16, 3 bfloat16, on both sides. */
TW_KERNEL void tw_sn_${kind}_mode(uint32_t mode)
{
% if kind == "bf16":
#ifdef TW_SN_STREAMS
    tw_sn_settle();
    __asm__ volatile(".option push\n\t.option arch, +zicsr\n\tcsrw 0x800, %0\n\t.option pop" ::"r"(mode) : "memory");
#else
    (void)mode;
#endif
% else:
    (void)mode;
% endif
}
