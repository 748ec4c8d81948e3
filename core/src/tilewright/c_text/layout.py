"""Knows how an expression is laid out in lines of C: what does not fit goes on under the bracket that it stands in.
Does not know statements, nor what an expression means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilewright.ir.programs.expressions import (
    Cast,
    Expression,
    FunctionCall,
    Reference,
    Struct,
    Sum,
    Verbatim,
    pieces,
)

WIDTH = 120
INDENT = "    "
DEEPEST = 64  # columns before the arguments of a call that goes on: further right it is indented as a block


class _Lines:
    """Lines that are written, one character after the other; `width` holds for all of them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.done: list[str] = []
        self.line = ""
        self.indent = 0

    def fits(self, text: str) -> bool:
        return len(self.line) + len(text) <= self.width

    def put(self, text: str) -> None:
        self.line += text

    def turn(self, indent: int) -> None:
        self.done.append(self.line.rstrip())
        self.line, self.indent = " " * indent, indent


def laid_out(before: str, expression: Expression, after: str, width: int = WIDTH) -> list[str]:
    """`before`, the expression and `after` in lines of at most `width` characters, where they can be broken."""
    lines = _Lines(width)
    lines.put(before)
    _write(lines, expression, after)
    return [*lines.done, lines.line]


def prototype(kind: str, name: str, parameters: Iterable[str], after: str = "") -> list[str]:
    """A function's head on one line, or with the further parameters under the first one; the name begins a line of its
    own where it is too long otherwise.
    """
    call = FunctionCall(name, tuple(map(Verbatim, parameters)) or (Verbatim("void"),))
    lines = laid_out(f"{kind} ", call, after)
    return lines if max(map(len, lines)) <= WIDTH else [kind, *laid_out("", call, after)]


def _write(lines: _Lines, expression: Expression, after: str) -> None:
    if lines.fits(f"{expression}{after}"):
        lines.put(f"{expression}{after}")
        return
    match expression:
        case Cast(type=kind, value=Cast() | FunctionCall() | Struct() as value):
            lines.put(f"({kind})")
            _write(lines, value, after)
        case Cast(type=kind, value=Sum() as value):
            lines.put(f"({kind})(")
            _row(lines, pieces(value), f"){after}")
        case Reference(value=Struct() as value):
            lines.put("&")
            _write(lines, value, after)
        case Struct():
            _block(lines, expression, after)
        case FunctionCall():
            _call(lines, expression, after)
        case _:
            _row(lines, pieces(expression), after)


def _call(lines: _Lines, call: FunctionCall, after: str) -> None:
    if lines.line.strip() and not lines.fits(f"{call.function}("):
        lines.turn(lines.indent + len(INDENT))
    lines.put(f"{call.function}(")
    blocks = any(isinstance(argument, Struct) for argument in call.arguments)
    available = lines.width - len(lines.line) - len(f"){after}")
    narrow = len(lines.line) > DEEPEST or any(len(str(argument)) > available for argument in call.arguments)
    begin = lines.indent + len(INDENT) if blocks or narrow else len(lines.line)
    if narrow and not blocks:
        lines.turn(begin)
    _filled(lines, [("", argument) for argument in call.arguments], f"){after}", begin)


def _block(lines: _Lines, struct: Struct, after: str) -> None:
    """Its members further in than the line that opens it, and what closes it below that."""
    outer = lines.indent
    lines.put(_opening(struct))
    lines.turn(outer + len(INDENT))
    _filled(lines, _members(struct), ",", outer + len(INDENT))
    lines.turn(outer)
    lines.put(f"}}{after}")


def _opening(struct: Struct) -> str:
    return f"({struct.type}){{" if struct.type else "{"


def _members(struct: Struct) -> list[tuple[str, Expression]]:
    named = [f".{member} = " for member in struct.members] or [""] * len(struct.values)
    return list(zip(named, struct.values, strict=True))


def _filled(lines: _Lines, operands: Sequence[tuple[str, Expression]], after: str, indent: int) -> None:
    """Operands, each behind its text, as many in a line as there is room for; a member that is broken ends its line."""
    broken = False
    for at, (before, operand) in enumerate(operands):
        end = after if at + 1 == len(operands) else ","
        needed = _opening(operand) if isinstance(operand, Struct) and not before else f"{before}{operand}{end}"
        if at and (broken or not lines.fits(f" {needed}")):
            lines.turn(indent)
        elif at:
            lines.put(" ")
        lines.put(before)
        written = len(lines.done)
        if isinstance(operand, Struct) and before and not lines.fits(f"{operand}{end}"):
            lines.put("{")
            _filled(lines, _members(operand), f"}}{end}", indent + len(INDENT))
        else:
            _write(lines, operand, end)
        broken = bool(before) and len(lines.done) > written
    if not operands:
        lines.put(after)


def _row(lines: _Lines, texts: Sequence[str], after: str) -> None:
    """Operands and the operators before them, broken before operators."""
    begin = lines.indent + len(INDENT)
    for at, text in enumerate(texts):
        end = after if at + 1 == len(texts) else ""
        if at and not lines.fits(f" {text}{end}"):
            lines.turn(begin)
        elif at:
            lines.put(" ")
        lines.put(f"{text}{end}")
