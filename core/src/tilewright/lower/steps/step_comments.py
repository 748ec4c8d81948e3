"""Knows the comment above a step's function: its nodes, its kernel, and where every operand is.
Does not know the code below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from tilewright.c_text.identifiers import comment_text
from tilewright.ir.graphs.graph import Site
from tilewright.ir.plans.stages import Binding, Step
from tilewright.ir.tensors.layout import Layout, row_major, same_bytes
from tilewright.lower.operands.addresses import Address, AddressBook
from tilewright.lower.operands.operand_bindings import OperandBinding, scratch_name

MOST = 115  # characters of a line, in a comment

Row = tuple[str, str, str, str]  # operand, type, where, what


def step_comment(
    index: int,
    total: int,
    site: Site,
    node_binding: Binding,
    bindings: Sequence[OperandBinding],
    book: AddressBook,
    step: Step,
    *,
    buffers: Sequence[Row] = (),
    tiles: Sequence[str] = (),
) -> tuple[str, ...]:
    """`buffers` are rows about tile buffers, `tiles` lines about the tiles themselves."""
    first, *others = site.node.origin or (site.node.name,)
    nodes = f"{book.shown(first)} (+{len(others)})" if others else book.shown(first)
    rows = [
        _row(binding.operand, _type(binding), binding.place, binding.region.size_bytes, book.shown(binding.what))
        for binding in bindings
    ]
    if scratch_name(step) in book.buffers:
        size = book.buffers[scratch_name(step)].size_bytes
        rows.append(_row("scratch", f"u8[{size}]", book.of_buffer(scratch_name(step)), size, ""))
    rows.extend(buffers)
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return (
        f"Step {index} of {total}: {comment_text(site.node.op)}",
        *_filled((f"  nodes    {nodes}", f"  kernel   {comment_text(node_binding.kernel.name)}")),
        *_filled(f"  tiles    {line}" for line in tiles),
        *_filled(f"  {_line(row, widths)}" for row in rows),
    )


def _line(row: Row, widths: Sequence[int]) -> str:
    return "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3])).rstrip()


def _filled(lines: Iterable[str]) -> Iterable[str]:
    """What is too long goes on below what the line is about."""
    for line in lines:
        yield from wrap(line, MOST, subsequent_indent=" " * 11, break_on_hyphens=False) if len(line) > MOST else (line,)


def type_text(name: str, shape: Sequence[int], layout: Layout) -> str:
    """`i8[1,8,25,5] axes (0,2,3,1)`; the axes only where they are not in row-major order."""
    text = f"{name}[{','.join(map(str, shape))}]"
    return text if same_bytes(shape, layout, row_major(len(shape))) else f"{text} axes ({','.join(map(str, layout))})"


def _type(binding: OperandBinding) -> str:
    return type_text(binding.dtype.value, binding.shape, binding.layout)


def _row(operand: str, kind: str, place: Address, size_bytes: int, what: str) -> Row:
    memory = place.parameter.name if place.where == "caller" else comment_text(place.where)
    where = f"{memory} [{place.offset_bytes}, {place.offset_bytes + size_bytes})"
    return operand.ljust(7), kind, where, what
