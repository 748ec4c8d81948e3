"""Knows the instructions of blocks: what streams bring is multiplied, added or compared, then results are finished.
Does not know where streams lead.

A block computes `width` outputs of one row. Of float32 a register holds two sums, over every second product each.
"""

from __future__ import annotations

from collections.abc import Iterator

WIDTHS = (8, 4, 2, 1)  # outputs of a block, the widest first; four instructions cover what one waits for
SUMS = ("ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "fa2")
OTHERS = ("fa3", "fa4", "fa5", "fa6", "fa7", "ft8", "ft9", "fs2")
MARKS = ("fs4", "fs5", "fs6", "fs7")  # 0 as long as nothing infinite, and no NaN, was clipped
LIMITS = ("ft10", "ft11")
ZERO = "fs3"
VALUE = FACTOR = LOWEST = "fs8"  # one value for all; what sums are multiplied by; what maxima begin with
PACKED = {"s": "", "h": "_H"}  # endings of macros
CLOBBERED = ("ft0", "ft1", "ft2", *SUMS, *OTHERS)


def product_lines(width: int, *, double: bool) -> tuple[str, ...]:
    """C strings: the first product of each sum, then all others, `times` + 1 of each."""
    registers = SUMS[:width]
    if double:
        first = [f'"fmul.d {sum_}, ft0, ft1\\n\\t"' for sum_ in registers]
        again = [f'"fmadd.d {sum_}, ft0, ft1, {sum_}\\n\\t"' for sum_ in registers]
    else:
        first = [f"TW_SN_VFMUL({sum_}, ft0, ft1)" for sum_ in registers]
        again = [f"TW_SN_VFMAC({sum_}, ft0, ft1)" for sum_ in registers]
    return (*first, f'TW_SN_REPEAT("%[times]", {width})', *again)


def finish_lines(width: int, *, double: bool, bias: bool, clip: str, dense: bool) -> tuple[str, ...]:
    """C strings: sums of two lanes joined, a bias added, clipped, and stored; `dense`: outputs are neighbours."""
    return tuple(f'"{line}\\n\\t"' for line in _finish(width, "d" if double else "s", bias, clip, dense))


def _finish(width: int, kind: str, bias: bool, clip: str, dense: bool) -> Iterator[str]:
    sums, others = SUMS[:width], OTHERS[:width]
    load, store, size = ("fld", "fsd", 8) if kind == "d" else ("flw", "fsw", 4)
    if kind == "s":
        yield from (f"fsd {register}, {8 * at}(%[lanes])" for at, register in enumerate(sums))
        for at, (left, right) in enumerate(zip(sums, others, strict=True)):
            yield f"flw {left}, {8 * at}(%[lanes])"
            yield f"flw {right}, {8 * at + 4}(%[lanes])"
        yield from (f"fadd.s {first}, {first}, {second}" for first, second in zip(sums, others, strict=True))
    if bias:
        for at, right in enumerate(others):
            yield f"{load} {right}, {size * at if dense else 0}(%[c])"
            if not dense:
                yield "add %[c], %[c], %[c_step]"
        yield from (f"fadd.{kind} {a}, {a}, {b}" for a, b in zip(sums, others, strict=True))
    if clip != "none":
        yield from (
            f"fmadd.{kind} {MARKS[at % 4]}, {register}, {ZERO}, {MARKS[at % 4]}" for at, register in enumerate(sums)
        )
        yield from (f"fmax.{kind} {register}, {register}, {LIMITS[0]}" for register in sums)
    if clip == "both":
        yield from (f"fmin.{kind} {register}, {register}, {LIMITS[1]}" for register in sums)
    for at, left in enumerate(sums):
        yield f"{store} {left}, {size * at if dense else 0}(%[y])"
        if not dense:
            yield "add %[y], %[y], %[y_step]"


def element_lines(op: str, clip: str, register: str, *, kind: str) -> tuple[str, ...]:
    """C strings of a repetition: one word of each stream without a clip, four at a time with one.

    `kind`: "d" (one float64), "s" (two float32) or "h" (four of 16 bits).
    `op`: "add", "sub", "mul", or "clip" (of one stream, which gives each element twice).
    `register`: "a" or "b" where that is one value, in `VALUE`.
    """
    if op == "clip":
        return _limit_lines(clip, kind=kind)
    streams = [operand for operand in "ab" if operand != register]
    a, b = (VALUE if operand == register else f"ft{streams.index(operand)}" for operand in "ab")
    if clip == "none":
        return (_line(op, "ft2", a, b, kind=kind),)
    registers = SUMS[: len(MARKS)]
    lines = [_line(op, operand, a, b, kind=kind) for operand in registers]
    lines += [_marked(mark, operand, kind=kind) for operand, mark in zip(registers, MARKS, strict=True)]
    if clip == "both":
        lines += [_line("max", operand, operand, LIMITS[0], kind=kind) for operand in registers]
    last = ("max", LIMITS[0]) if clip == "low" else ("min", LIMITS[1])
    return (*lines, *(_line(last[0], "ft2", operand, last[1], kind=kind) for operand in registers))


def _limit_lines(clip: str, *, kind: str) -> tuple[str, ...]:
    lines = []
    for register, mark in zip(SUMS, MARKS, strict=False):
        lines.append(_line("add", mark, mark, "ft0", kind=kind))
        lines.append(_line("max", "ft2" if clip == "low" else register, "ft0", LIMITS[0], kind=kind))
    if clip == "both":
        lines += [_line("min", "ft2", register, LIMITS[1], kind=kind) for register in SUMS[: len(MARKS)]]
    return tuple(lines)


def _marked(mark: str, register: str, *, kind: str) -> str:
    """`mark` becomes NaN where `one` is infinite or NaN."""
    if kind == "d":
        return f'"fmadd.d {mark}, {register}, {ZERO}, {mark}\\n\\t"'
    return f"TW_SN_VFMAC{PACKED[kind]}({mark}, {register}, {ZERO})"


def _line(name: str, *registers: str, kind: str) -> str:
    if kind == "d":
        return f'"f{name}.d {", ".join(registers)}\\n\\t"'
    return f"TW_SN_VF{name.upper()}{PACKED[kind]}({', '.join(registers)})"


def tap_lines(width: int, kind: str, clip: str) -> tuple[str, ...]:
    """C strings of a window of `width` pairs of channels: `times` + 1 taps, each pair by itself.

    `kind`: "products" (begin with a bias), "sum" (of elements, times a factor) or "max" (each element comes twice).
    """
    sums = SUMS[:width]
    begin = {
        "products": [f'"fld {register}, {8 * at}(%[b])\\n\\t"' for at, register in enumerate(sums)],
        "sum": [f'"fcvt.d.w {register}, x0\\n\\t"' for register in sums],
        "max": [f'"fmv.d {register}, {LOWEST}\\n\\t"' for register in sums],
    }
    return (
        *begin[kind],
        *_repeated(_tap_lines(sums, kind)),
        *([_line("mul", register, register, FACTOR, kind="s") for register in sums] if kind == "sum" else []),
        *_clip_lines(sums, clip),
        *(f'"fsd {register}, {8 * at}(%[y])\\n\\t"' for at, register in enumerate(sums)),
    )


def _repeated(lines: list[str]) -> tuple[str, ...]:
    return (f'TW_SN_REPEAT("%[times]", {len(lines)})', *lines)


def _tap_lines(sums: tuple[str, ...], kind: str) -> list[str]:
    if kind == "products":
        return [f"TW_SN_VFMAC({register}, ft0, ft1)" for register in sums]
    if kind == "sum":
        return [_line("add", register, register, "ft0", kind="s") for register in sums]
    marks = (MARKS * 2)[: len(sums)]
    pairs = zip(marks, sums, strict=True)
    return [
        line
        for mark, register in pairs
        for line in (_line("add", mark, mark, "ft0", kind="s"), _line("max", register, register, "ft0", kind="s"))
    ]


def _clip_lines(sums: tuple[str, ...], clip: str) -> list[str]:
    if clip == "none":
        return []
    lines = [_marked(MARKS[at % 4], register, kind="s") for at, register in enumerate(sums)]
    lines += [_line("max", register, register, LIMITS[0], kind="s") for register in sums]
    return lines + (
        [_line("min", register, register, LIMITS[1], kind="s") for register in sums] if clip == "both" else []
    )


A_REGISTERS = ("fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11")
LANES_MARK = ZERO  # what has a clip marks in one register: zeros for the others are made when sums are done


def lane_lines(height: int, width: int, clip: str, *, dense: bool) -> tuple[str, ...]:
    """C strings of `height` rows of `width` pairs of outputs: each element of A times pairs that a stream brings.

    Four elements of a row at a time from %[a0] to %[whole], then one by one to %[end].
    """
    rows = [(SUMS, OTHERS)[row][:width] for row in range(height)]
    sums = [sum_ for row in rows for sum_ in row]
    lines = [f"fcvt.d.w {sum_}, x0" for sum_ in sums]
    four, one = _lane_step(rows, 4, dense=dense), _lane_step(rows, 1, dense=dense)
    return (
        *_texts(lines),
        *_texts(["beq %[a0], %[whole], 2f", "1:"]),
        *four,
        *_texts(["bne %[a0], %[whole], 1b", "2:", "beq %[a0], %[end], 4f", "3:"]),
        *one,
        *_texts(["bne %[a0], %[end], 3b", "4:"]),
        *_lane_clip(sums, clip),
        *_texts([f"fsd {sum_}, {8 * at}(%[y{row}])" for row, own in enumerate(rows) for at, sum_ in enumerate(own)]),
    )


def _texts(lines: list[str]) -> tuple[str, ...]:
    return tuple(f'"{line}\\n\\t"' for line in lines)


def _lane_step(rows: list[tuple[str, ...]], times: int, *, dense: bool) -> tuple[str, ...]:
    """`times` elements of each row: loaded all, then multiplied."""
    loads, products, registers = [], [], iter(A_REGISTERS)
    named = [[next(registers) for _ in rows] for _ in range(times)]
    for at, own in enumerate(named):
        for row, register in enumerate(own):
            loads.append(f"flw {register}, {4 * at if dense else 0}(%[a{row}])")
            if not dense:
                loads.append(f"add %[a{row}], %[a{row}], %[step]")
    if dense:
        loads += [f"addi %[a{row}], %[a{row}], {4 * times}" for row in range(len(rows))]
    for own in named:
        for pair in zip(*rows, strict=True):
            products += [f"TW_SN_VFMAC_R({sum_}, ft0, {source})" for sum_, source in zip(pair, own, strict=True)]
    return (*_texts(loads), *products)


def _lane_clip(sums: list[str], clip: str) -> tuple[str, ...]:
    if clip == "none":
        return ()
    zero, *marks = A_REGISTERS[:5]
    lines = list(_texts([f"fcvt.d.w {register}, x0" for register in (zero, *marks)]))
    lines += [f"TW_SN_VFMAC({marks[at % 4]}, {register}, {zero})" for at, register in enumerate(sums)]
    lines += [_line("max", register, register, LIMITS[0], kind="s") for register in sums]
    lines += [_line("min", register, register, LIMITS[1], kind="s") for register in sums if clip == "both"]
    return (*lines, *(_line("add", LANES_MARK, LANES_MARK, mark, kind="s") for mark in marks))
