${signature(f"tw_status {p}_run({p}_ctx *ctx, const {p}_inputs *inputs, const {p}_outputs *outputs)")}
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
    if (tw_misaligned(${struct}->${port.member}, ${port.macro}_ALIGN)) {
        return TW_ERR_ALIGN;
    }
% endif
% endfor
% endif
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
        ${wrapped(f"{function}({port.address}, inputs->{port.member}, {port.macro}_SIZE);", 2)}
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
    ${wrapped(f"tw_copy_tensor(outputs->{port.member}, {port.copied_from}, {port.macro}_SIZE);", 1)}
% endif
% endfor
% if placed_outputs:
% for by, function, moved in crossings(placed_outputs):

    if (outputs != NULL${by}) {
% for port in moved:
        ${wrapped(f"{function}(outputs->{port.member}, {port.address}, {port.macro}_SIZE);", 2)}
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
