"""Knows how one step becomes a C function: operands, the kernel's call, and the comment above it.
Does not know the other steps, nor the border of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.access import Window
from tilewright.dtypes import DType
from tilewright.graph import Site
from tilewright.identifiers import comment_text, safe_identifier
from tilewright.kernel import Call, Kernel, Operand
from tilewright.layout import Layout, row_major, same_bytes, strides
from tilewright.lower.addresses import AddressBook, Place
from tilewright.operands import input_operands, kernel_access
from tilewright.operator import Operator
from tilewright.program import KernelCall, KernelWait, Parameter, Region, Statement, StepCode
from tilewright.rendering import render_call, render_source, render_wait
from tilewright.stages import Binding, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """One operand of a step tied to its bytes."""

    operand: str
    what: str  # tensor or constant, by name
    place: Place
    region: Region
    dtype: DType
    shape: tuple[int, ...]
    layout: Layout
    written: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A step's function, and the C at file scope that it needs."""

    code: StepCode
    source: str
    kernel: Kernel


def lower_step(
    index: int, step: Step, book: AddressBook, operators: Mapping[str, Operator], prefix: str, total: int
) -> Lowered:
    """One kernel call over whole operands."""
    bound = book.allocated.tiled.scheduled.bound
    node = next(node for node in bound.graph.nodes if node.name == step.nodes[-1])
    site, binding, operator = bound.graph.site(node), bound.bindings[step.name], operators[node.op]
    bonds = _bonds(site, operator, binding, book)
    function = f"{prefix}_{index:0{len(str(total - 1))}d}_{safe_identifier(node.op, 'op').lower()}"
    access = kernel_access(operator, binding.kernel, site)
    box = {loop.name: (0, loop.extent) for loop in access.loops}
    operands = {bond.operand: _operand(bond, access.window(bond.operand, box)) for bond in bonds}
    call = Call(
        site=site,
        operands={**operands, "scratch": _scratch(step, book)},
        extents={loop.name: str(loop.extent) for loop in access.loops},
        name=function,
    )
    scratch = book.buffers.get(scratch_name(step))
    body: tuple[Statement, ...] = ()
    if any(bond.region.size_bytes for bond in bonds if bond.written):
        wait = render_wait(binding.kernel, call)
        body = (
            KernelCall(
                kernel=binding.kernel.name,
                text=render_call(binding.kernel, call),
                reads=tuple(bond.region for bond in bonds if not bond.written),
                writes=(
                    *(bond.region for bond in bonds if bond.written),
                    *([Region(buffer=scratch.name, offset_bytes=0, size_bytes=scratch.size_bytes)] if scratch else []),
                ),
            ),
            *([KernelWait(kernel=binding.kernel.name, text=wait)] if wait else []),
        )
    code = StepCode(
        step=step.name,
        function=function,
        comment=_comment(index, total, site, binding, bonds, book, step),
        parameters=_parameters(bonds, step, book) if body else (),
        body=body,
    )
    return Lowered(code=code, source=render_source(binding.kernel, call) if body else "", kernel=binding.kernel)


def scratch_name(step: Step) -> str:
    """The buffer that holds a step's scratch, where it has any."""
    return f"{step.name}.scratch"


def _bonds(site: Site, operator: Operator, binding: Binding, book: AddressBook) -> tuple[Bond, ...]:
    bonds: list[Bond] = []
    for source in input_operands(operator, binding.kernel, site):
        if source.operand in binding.constants:
            bonds.append(_constant(source.operand, binding.constants[source.operand], book))
        else:
            bonds.append(_value(source.operand, source.tensor, book, written=False))
    outputs = zip(operator.outputs, site.node.outputs, strict=False)
    bonds.extend(_value(operand, value, book, written=True) for operand, value in outputs if value)
    return tuple(bonds)


def _constant(operand: str, name: str, book: AddressBook) -> Bond:
    array = book.allocated.tiled.scheduled.bound.constants[name]
    return Bond(
        operand=operand,
        what=name,
        place=book.of_buffer(name),
        region=Region(buffer=name, offset_bytes=0, size_bytes=array.nbytes),
        dtype=DType.from_numpy(array.dtype),
        shape=tuple(array.shape),
        layout=row_major(array.ndim),
        written=False,
    )


def _value(operand: str, name: str, book: AddressBook, *, written: bool) -> Bond:
    scheduled = book.allocated.tiled.scheduled
    tensor, storage = scheduled.bound.graph.tensors[name], scheduled.storage[name]
    return Bond(
        operand=operand,
        what=name,
        place=book.of_value(name),
        region=Region(buffer=storage.buffer, offset_bytes=storage.offset_bytes, size_bytes=tensor.size_bytes),
        dtype=tensor.dtype,
        shape=tensor.shape,
        layout=scheduled.bound.layouts[name],
        written=written,
    )


def _operand(bond: Bond, window: Window) -> Operand:
    """The operand as a call over all loops sees it: what is never read is left out, what is padding is counted."""
    steps = strides(bond.shape, bond.layout)
    skipped = sum(span.low * step for span, step in zip(window, steps, strict=True))
    place = replace(bond.place, offset_bytes=bond.place.offset_bytes + skipped * bond.dtype.size_bytes)
    return Operand(
        name=bond.operand,
        pointer=place.pointer(bond.dtype.c_type, const=not bond.written),
        dtype=bond.dtype,
        shape=bond.shape,
        strides=steps,
        extents=tuple(str(span.extent) for span in window),
        origin=tuple(str(span.low) for span in window),
        before=tuple(str(span.before) for span in window),
        after=tuple(str(span.after) for span in window),
    )


def _scratch(step: Step, book: AddressBook) -> Operand:
    buffer = book.buffers.get(scratch_name(step))
    size = buffer.size_bytes if buffer else 0
    pointer = book.of_buffer(buffer.name).pointer("uint8_t", const=False) if buffer else "(uint8_t *)0"
    return Operand(
        name="scratch",
        pointer=pointer,
        dtype=DType.U8,
        shape=(size,),
        strides=(1,),
        extents=(str(size),),
        origin=("0",),
        before=("0",),
        after=("0",),
    )


def _parameters(bonds: Sequence[Bond], step: Step, book: AddressBook) -> tuple[Parameter, ...]:
    places = [bond.place for bond in bonds if bond.region.size_bytes]
    if scratch_name(step) in book.buffers:
        places.append(book.of_buffer(scratch_name(step)))
    return tuple(sorted({place.parameter: None for place in places}, key=lambda parameter: parameter.name))


def _comment(
    index: int, total: int, site: Site, binding: Binding, bonds: Sequence[Bond], book: AddressBook, step: Step
) -> tuple[str, ...]:
    origin = ", ".join(comment_text(name) for name in site.node.origin or (site.node.name,))
    rows = [_row(bond.operand, _type(bond), bond.place, bond.region.size_bytes, bond.what) for bond in bonds]
    if scratch_name(step) in book.buffers:
        size = book.buffers[scratch_name(step)].size_bytes
        rows.append(_row("scratch", f"u8[{size}]", book.of_buffer(scratch_name(step)), size, ""))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3])) for row in rows
    ]
    return (
        f"Step {index} of {total}: {comment_text(site.node.op)}",
        f"  nodes    {origin}",
        f"  kernel   {comment_text(binding.kernel.name)}",
        *(f"  {line.rstrip()}" for line in lines),
    )


def _type(bond: Bond) -> str:
    text = f"{bond.dtype.value}[{','.join(map(str, bond.shape))}]"
    if same_bytes(bond.shape, bond.layout, row_major(len(bond.shape))):
        return text
    return f"{text} axes ({','.join(map(str, bond.layout))})"


def _row(operand: str, kind: str, place: Place, size_bytes: int, what: str) -> tuple[str, str, str, str]:
    memory = place.parameter.name if place.where == "caller" else comment_text(place.where)
    where = f"{memory} [{place.offset_bytes}, {place.offset_bytes + size_bytes})"
    return operand.ljust(7), kind, where, comment_text(what)
