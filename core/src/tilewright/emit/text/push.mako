<%def name="ready()">\
    if (ctx == NULL) {
        return TW_ERR_ARG;
    }
    if (ctx->plan != ${P}_PLAN_ID) {
        return TW_ERR_STATE;
    }
</%def>\
<%def name="bases(text)">\
% for pool in program.pools:
% if names_in(text, pool.base):
    uint8_t *const ${pool.base} = (uint8_t *)ctx->pools.${pool.base};
% if lifetimes:
    (void)${pool.base}; /* marks alone may name it */
% endif
% endif
% endfor
% for pool in program.constants:
% if names_in(text, pool.base):
    const uint8_t *const ${pool.base} = (const uint8_t *)ctx->constants.${pool.base};
% endif
% endfor
% if names_in(text, "state"):
    uint8_t *const state = (uint8_t *)ctx->state;
% endif
</%def>\
${signature(f"tw_status {p}_begin({p}_ctx *ctx, const {p}_inputs *inputs, const {p}_outputs *outputs)")}
{
${ready()}\
% for struct, list in (("inputs", [port for port in user_inputs if port is not pushed]), ("outputs", user_outputs)):
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
${bases(before + "".join(port.address for port in placed_inputs))}\
    ctx->phase = 0;
    memset(&ctx->inputs, 0, sizeof ctx->inputs);
    memset(&ctx->outputs, 0, sizeof ctx->outputs);
    memset(&ctx->arrival, 0, sizeof ctx->arrival);
    if (inputs != NULL) {
        ctx->inputs = *inputs;
% for port in placed_inputs:
        ${wrapped(f"tw_copy_tensor({port.address}, inputs->{port.member}, {port.macro}_SIZE);", 2)}
% endfor
    }
    if (outputs != NULL) {
        ctx->outputs = *outputs;
    }
% if before:
${before}
% endif
    ctx->rows_left = ${pushed.macro}_ROWS;
    ctx->phase = 1;
    return TW_OK;
}

/* `count` rows, `stride` bytes one after the other, and the pieces of each `apart` bytes. */
${signature(f"static tw_status {p}_take({p}_ctx *ctx, const {pushed.type} *rows, uint32_t count, int32_t stride, int32_t apart)")}
{
<%
    copies = [(port, port.address) for port in placed_outputs] + [(port, port.copied_from) for port in user_outputs if port.copied_from]
    code = waiting + after + "".join(f"outputs->{source}" for _, source in copies)
%>\
${bases(code)}\
% for struct in ("inputs", "outputs"):
% if f"{struct}->" in code:
    const ${p}_${struct} *const ${struct} = &ctx->${struct};
% endif
% endfor

    ctx->rows_left -= count;
    if (ctx->phase == 2) { /* the last rows are not needed */
        return TW_OK;
    }
    ctx->arrival.rows = (const uint8_t *)rows;
    ctx->arrival.count = (int32_t)count;
    ctx->arrival.row_stride = stride;
    ctx->arrival.block_stride = apart;
${waiting}
    if (ctx->arrival.waiting) {
        return TW_MORE;
    }
    ctx->phase = 0;
% if after:
${after}
% endif
% for port, source in copies:
    ${wrapped(f"tw_copy_tensor(outputs->{port.member}, {source}, {port.macro}_SIZE);", 1)}
% endfor
    ctx->phase = 2;
    return TW_OK;
}

${signature(f"tw_status {p}_push_{pushed.member}({p}_ctx *ctx, const {pushed.type} *rows, uint32_t count)")}
{
${ready()}\
    if (rows == NULL) {
        return TW_ERR_ARG;
    }
    if (ctx->phase == 0) {
        return TW_ERR_STATE;
    }
    if (count > ctx->rows_left) {
        return TW_ERR_ROWS;
    }
    return ${p}_take(ctx, rows, count, ${pushed.rows.size_bytes}, ${pushed.rows.piece_bytes});
}

${signature(f"tw_status {p}_run({p}_ctx *ctx, const {p}_inputs *inputs, const {p}_outputs *outputs)")}
{
    tw_status status;
${ready()}\
    if (inputs == NULL || inputs->${pushed.member} == NULL) {
        return TW_ERR_ARG;
    }
    if (ctx->phase == 1) { /* of rows that were begun with, some are missing */
        return TW_ERR_STATE;
    }
    status = ${p}_begin(ctx, inputs, outputs);
    if (status != TW_OK) {
        return status;
    }
    return ${p}_take(ctx, inputs->${pushed.member}, ${pushed.macro}_ROWS, ${pushed.rows.piece_bytes}, ${pushed.rows.piece_bytes * pushed.rows.count});
}
