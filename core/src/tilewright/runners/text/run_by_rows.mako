% for port in (*arriving, *leaving):
<% macro, pushed = port_macro(port), port in arriving %>\
static ${port.tensor.dtype.c_type} lines_${macro}[3u * ${macro}_ROW_ELEMENTS];
% if not pushed:
static ${port.tensor.dtype.c_type} whole_${macro}[${macro}_ELEMENTS];
% endif

/* Up to three rows, their pieces from or to where they are in the whole tensor. */
static tw_status ${"push" if pushed else "pull"}_${macro}(uint32_t most)
{
    enum { PIECE = ${macro}_ROW_SIZE / ${macro}_ROW_PIECES };
    const uint32_t at = ${p}_${"pushed" if pushed else "pulled"}_${port.member}(&ctx), left = ${macro}_ROWS - at;
    const uint32_t count = most < left ? most : left;
    if (count == 0u) {
        return TW_BLOCKED;
    }
    uint8_t *const line = (uint8_t *)lines_${macro};
% if pushed:
    const uint8_t *const whole = (const uint8_t *)inputs.${port.member};
    const uint32_t moved = count;
% else:
    uint8_t *const whole = (uint8_t *)whole_${macro};
    const tw_status status = ${p}_pull_${port.member}(&ctx, lines_${macro}, count);
    const uint32_t moved = ${p}_pulled_${port.member}(&ctx) - at;
% endif
    for (uint32_t i = 0u; i < moved * ${macro}_ROW_PIECES; ++i) {
        const uint32_t row = i / ${macro}_ROW_PIECES, piece = i % ${macro}_ROW_PIECES;
        for (uint32_t byte = 0u; byte < PIECE; ++byte) {
% if pushed:
            line[i * PIECE + byte] = whole[(piece * ${macro}_ROWS + at + row) * PIECE + byte];
% else:
            whole[(piece * ${macro}_ROWS + at + row) * PIECE + byte] = line[i * PIECE + byte];
% endif
        }
    }
% if pushed:
    return ${p}_push_${port.member}(&ctx, lines_${macro}, count);
% else:
    return status;
% endif
}

% endfor
% if len(arriving) > 1:
/* Rows of the input that has its turn, or else of one that there is room for. */
static tw_status push_any(uint32_t turn, uint32_t most)
{
    enum { INPUTS = ${len(arriving)} };
    tw_status status = TW_BLOCKED;
    for (uint32_t i = 0u; i < INPUTS && status == TW_BLOCKED; ++i) {
        switch ((turn + i) % INPUTS) {
% for number, port in enumerate(arriving):
        ${f"case {number}u" if number + 1 < len(arriving) else "default"}:
            status = ${p}_room_${port.member}(&ctx) > 0u ? push_${port_macro(port)}(most) : TW_BLOCKED;
            break;
% endfor
        }
    }
    return status;
}

% endif
/* Every other set in rows: one, two, three, and again. */
static tw_status run(unsigned set)
{
    tw_status status;
    uint32_t turn = 0u;
    if (set % 2u != 0u) {
        return ${p}_run(&ctx, &inputs, &outputs);
    }
    status = ${p}_begin(&ctx, &inputs, &outputs);
    while (status == TW_MORE || status == TW_READY) {
        const tw_status next = status;
        const uint32_t most = turn++ % 3u + 1u;
        status = TW_BLOCKED;
% if len(arriving) > 1:
        if (next == TW_MORE || turn % 4u == 0u) {
            status = push_any(turn / 2u, most);
        }
% else:
% for port in arriving:
        if (next == TW_MORE && status == TW_BLOCKED) {
            status = push_${port_macro(port)}(most);
        }
% endfor
% endif
% for port in leaving:
        if (next == TW_READY && status == TW_BLOCKED) {
            status = pull_${port_macro(port)}(most);
        }
% endfor
    }
% for port in leaving:
    for (uint32_t i = 0u; i < ${port_macro(port)}_ELEMENTS; ++i) {
        outputs.${port.member}[i] = whole_${port_macro(port)}[i];
    }
% endfor
    return status;
}
