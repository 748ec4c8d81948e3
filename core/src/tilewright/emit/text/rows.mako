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
/* What begins a run. Inputs and outputs that pass in rows are not looked at. */
${head("static tw_status", f"{p}_start", [f"{p}_ctx *ctx", f"const {p}_inputs *inputs", f"const {p}_outputs *outputs"])}
{
% for struct, list in (("inputs", [port for port in user_inputs if not port.rows]), ("outputs", [port for port in user_outputs if not port.rows])):
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
${bases(before + "".join(port.address for port in placed_inputs))}\
    ctx->phase = 0;
    (void)memset(&ctx->inputs, 0, sizeof ctx->inputs);
    (void)memset(&ctx->outputs, 0, sizeof ctx->outputs);
    (void)memset(&ctx->progress, 0, sizeof ctx->progress);
% for list, array in ((streamed_inputs, "arrivals"), (streamed_outputs, "departures")):
% if list:
    (void)memset(ctx->${array}, 0, sizeof ctx->${array});
% for number, port in enumerate(list):
    ctx->${array}[${number}].left = ${port.macro}_ROWS;
% endfor
% endif
% endfor
    if (inputs != NULL) {
        ctx->inputs = *inputs;
% for port in placed_inputs:
        ${call(2, "tw_copy_tensor", [port.address, f"inputs->{port.member}", f"{port.macro}_SIZE"])}
% endfor
    }
    if (outputs != NULL) {
        ctx->outputs = *outputs;
    }
% if before:
${before}
% endif
    ctx->phase = 1;
    return TW_OK;
}

/* Computes until something comes first, or all is done. */
static tw_status ${p}_go_on(${p}_ctx *ctx)
{
<%
    copies = [(port, port.address) for port in placed_outputs] + [(port, port.copied_from) for port in user_outputs if port.copied_from]
    code = "".join(step + after for step, after in waiting) + "".join(f"outputs->{source}" for _, source in copies)
    done = len(waiting) + 1
%>\
${bases(code)}\
% for struct in ("inputs", "outputs"):
% if f"{struct}->" in code:
    const ${p}_${struct} *const ${struct} = &ctx->${struct};
% endif
% endfor

% for number, (step, after) in enumerate(waiting, 1):
    if (ctx->phase == ${number}) {
        ctx->progress.waiting = TW_OK;
${step}
        if (ctx->progress.waiting != TW_OK) {
            return ctx->progress.waiting;
        }
        (void)memset(&ctx->progress, 0, sizeof ctx->progress);
        ctx->phase = 0; /* a hook may end the run */
% if after:
${after}
% endif
% for port, source in copies if number == len(waiting) else ():
        ${call(2, "tw_copy_tensor", [f"outputs->{port.member}", source, f"{port.macro}_SIZE"])}
% endfor
        ctx->phase = ${number + 1};
    }
% endfor
    return TW_OK;
}

${head("tw_status", f"{p}_begin", [f"{p}_ctx *ctx", f"const {p}_inputs *inputs", f"const {p}_outputs *outputs"])}
{
    tw_status status;
${ready()}\
    status = ${p}_start(ctx, inputs, outputs);
    return status == TW_OK ? ${p}_go_on(ctx) : status;
}
% for list, array, verb, const, waits, status in ((streamed_inputs, "arrivals", "push", "const ", "wanted", "TW_MORE"), (streamed_outputs, "departures", "pull", "", "ready", "TW_READY")):
% for number, port in enumerate(list):

${head("tw_status", f"{p}_{verb}_{port.member}", [f"{p}_ctx *ctx", f"{const}{port.type} *rows", "uint32_t count"])}
{
    ${"tw_arrival" if verb == "push" else "tw_departure"} *end;
    tw_status status;
${ready()}\
    if (rows == NULL) {
        return TW_ERR_ARG;
    }
    if (ctx->phase == 0) {
        return TW_ERR_STATE;
    }
    end = &ctx->${array}[${number}];
    if (count > end->left) {
        return TW_ERR_ROWS;
    }
% if verb == "push" and several_streamed_inputs:
    if (ctx->phase > ${phase_of(port)}) { /* its last rows may not be needed */
        end->left -= count;
        return ctx->progress.waiting;
    }
% else:
    if (ctx->phase == ${done}) { /* the last rows of an input may not be needed */
        end->left -= count;
        return TW_OK;
    }
% endif
    if (count == 0u) {
        return ctx->progress.waiting;
    }
% if verb == "push" and several_streamed_inputs:
    if (end->wanted == 0) {
% else:
    if ((ctx->progress.waiting != ${status}) || (end->${waits} == 0)) {
% endif
        return TW_BLOCKED;
    }
    end->rows = (${const}uint8_t *)rows;
    end->count = (int32_t)count;
    end->row_stride = ${port.rows.size_bytes};
    end->block_stride = ${port.rows.piece_bytes};
    status = ${p}_go_on(ctx);
% if verb == "push":
    if (${f"ctx->phase > {phase_of(port)}" if several_streamed_inputs else "status == TW_OK"}) {
        end->left -= (uint32_t)end->count; /* the same */
    }
% endif
    end->count = 0;
    return status;
}

${head("uint32_t", f"{p}_{verb}ed_{port.member}", [f"const {p}_ctx *ctx"])}
{
    const int begun = ctx != NULL && ctx->plan == ${P}_PLAN_ID && ctx->phase != 0;
    return begun ? ${port.macro}_ROWS - ctx->${array}[${number}].left : 0u;
}
% if verb == "push" and several_streamed_inputs:

${head("uint32_t", f"{p}_room_{port.member}", [f"const {p}_ctx *ctx"])}
{
    if (ctx == NULL || ctx->plan != ${P}_PLAN_ID || ctx->phase == 0) {
        return 0u;
    }
    return (ctx->phase > ${phase_of(port)}) ? ctx->arrivals[${number}].left : (uint32_t)ctx->arrivals[${number}].wanted;
}
% elif verb == "pull" and several_streamed_outputs:

${head("uint32_t", f"{p}_ready_{port.member}", [f"const {p}_ctx *ctx"])}
{
    const int begun = ctx != NULL && ctx->plan == ${P}_PLAN_ID && ctx->phase != 0;
    return begun ? (uint32_t)ctx->departures[${number}].ready : 0u;
}
% endif
% endfor
% endfor

${head("tw_status", f"{p}_run", [f"{p}_ctx *ctx", f"const {p}_inputs *inputs", f"const {p}_outputs *outputs"])}
{
    tw_status status;
${ready()}\
% for struct, list in (("inputs", streamed_inputs), ("outputs", streamed_outputs)):
% if list:
    if (${struct} == NULL${"".join(f" || {struct}->{port.member} == NULL" for port in list)}) {
        return TW_ERR_ARG;
    }
% endif
% endfor
    if ((ctx->phase != 0) && (ctx->phase != ${done})) { /* rows of a run that was begun have not passed */
        return TW_ERR_STATE;
    }
    status = ${p}_start(ctx, inputs, outputs);
    if (status != TW_OK) {
        return status;
    }
% for list, array, struct, const in ((streamed_inputs, "arrivals", "inputs", "const "), (streamed_outputs, "departures", "outputs", "")):
% for number, port in enumerate(list):
    ctx->${array}[${number}].rows = (${const}uint8_t *)${struct}->${port.member};
    ctx->${array}[${number}].count = (int32_t)${port.macro}_ROWS;
    ctx->${array}[${number}].row_stride = ${port.rows.piece_bytes};
    ctx->${array}[${number}].block_stride = ${port.rows.piece_bytes * port.rows.count};
% endfor
% endfor
    return ${p}_go_on(ctx);
}
