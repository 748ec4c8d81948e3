${head("tw_status", f"{p}_run", [f"{p}_ctx *ctx", f"const {p}_inputs *inputs", f"const {p}_outputs *outputs"])}
{
    if (ctx == NULL) {
        return TW_ERR_ARG;
    }
    if (ctx->plan != ${P}_PLAN_ID) {
        return TW_ERR_STATE;
    }
% for struct, list in (("inputs", user_inputs), ("outputs", user_outputs)):
% if list:
    if (${struct} == NULL${"".join(f" || {struct}->{port.member} == NULL" for port in list)}) {
        return TW_ERR_ARG;
    }
% for port in list:
% if port.align > 1:
    if (tw_misaligned(${struct}->${port.member}, ${port.macro}_ALIGN) != 0) {
        return TW_ERR_ALIGN;
    }
% endif
% endfor
% endif
% endfor
% for condition in misaligned:
    if (${condition}) {
        return TW_ERR_ALIGN;
    }
% endfor
% for pool in used_pools:
    uint8_t *const ${pool.base} = (uint8_t *)ctx->pools.${pool.base};
% endfor
% for pool in used_constants:
    const uint8_t *const ${pool.base} = (const uint8_t *)ctx->constants.${pool.base};
% endfor
% if program.state_bytes:
    uint8_t *const state = (uint8_t *)ctx->state;
% endif
% if before_inputs:

${before_inputs}
% endif
% if placed_inputs:
% for by, function, moved in crossings(placed_inputs):

    if (inputs != NULL${by}) {
% for port in moved:
        ${call(2, function, [port.address, f"inputs->{port.member}", f"{port.macro}_SIZE"])}
% endfor
    }
% endfor
% if program.team:
    tw_rt_barrier();
% endif
% elif not user_inputs:
    (void)inputs;
% endif
% if body:

${body}
% endif
% if program.team:
    tw_rt_barrier();
% endif
% for port in user_outputs:
% if port.copied_from:
    ${call(1, "tw_copy_tensor", [f"outputs->{port.member}", port.copied_from, f"{port.macro}_SIZE"])}
% endif
% endfor
% if placed_outputs:
% for by, function, moved in crossings(placed_outputs):

    if (outputs != NULL${by}) {
% for port in moved:
        ${call(2, function, [f"outputs->{port.member}", port.address, f"{port.macro}_SIZE"])}
% endfor
    }
% endfor
% elif not user_outputs:
    (void)outputs;
% endif
% if program.team and (placed_outputs or any(port.copied_from for port in user_outputs)):
    tw_rt_barrier();
% endif
% if after_outputs:

${after_outputs}
% endif
    return TW_OK;
}
