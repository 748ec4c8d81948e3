"""Knows which bytes each operand of a step is.
Does not know calls, tiles or the other steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Operand
from tilewright.ir.plans.constant_copies import read_as
from tilewright.ir.plans.operand_bases import bases_of
from tilewright.ir.plans.stages import Binding, Step
from tilewright.ir.programs.expressions import Cast, Expression
from tilewright.ir.programs.program import Parameter
from tilewright.ir.programs.statements import ByteRange, Declare
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout, row_major
from tilewright.lower.operands.addresses import Address, AddressBook

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandBinding:
    """One operand of a step tied to its bytes."""

    operand: str
    what: str  # tensor or constant, by name
    place: Address
    region: ByteRange
    dtype: DType
    shape: tuple[int, ...]
    layout: Layout
    written: bool


def operand_bindings(
    site: Site, operator: Operator, binding: Binding, book: AddressBook, inner: Mapping[str, str] = NOTHING
) -> tuple[OperandBinding, ...]:
    """Every operand of a step, inputs first; scratch is not among them.

    `inner`: value or constant -> the buffer of an inner memory that it is in.
    """
    bindings: list[OperandBinding] = []
    layer = book.allocated.tiled.scheduled.bound.layers[binding.node]
    for source in layer.sources(site):
        if source.operand in binding.constants:
            bindings.append(_constant(source.operand, binding.constants[source.operand], binding.node, book, inner))
        else:
            bindings.append(_value(source.operand, source.tensor, book, inner, written=False))
    outputs = zip(operator.outputs, site.node.outputs, strict=False)
    bindings.extend(_value(operand, value, book, inner, written=True) for operand, value in outputs if value)
    return tuple(bindings)


def scratch_name(step: Step) -> str:
    """The buffer that holds a step's scratch, where it has any."""
    return f"{step.name}.scratch"


def scratch_operand(pointer: str, size: int) -> Operand:
    """Scratch as templates see it; no bytes where a step has none."""
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


def base_parameters(buffers: Iterable[str], book: AddressBook) -> tuple[Parameter, ...]:
    """The pointers from which buffers are reached, numbered as `bases_of` does."""
    numbers = bases_of(buffers, book.allocated)
    first = {number: buffer for buffer, number in reversed([*numbers.items()])}
    return tuple(book.of_buffer(first[number]).parameter for number in range(len(first)))


def pointer_to(address: Expression, name: str, dtype: DType, *, written: bool) -> Declare:
    """A variable that points to elements of type `dtype`."""
    kind = f"{'' if written else 'const '}{dtype.c_type} *"
    return Declare(type=f"{kind}const", name=name, value=address if dtype is DType.U8 else Cast(kind, address))


def _constant(operand: str, name: str, step: str, book: AddressBook, inner: Mapping[str, str]) -> OperandBinding:
    array = book.allocated.tiled.scheduled.bound.constants[name]
    stored = inner.get(name) or read_as(name, book.allocated.decisions, step)
    return OperandBinding(
        operand=operand,
        what=name,
        place=book.of_buffer(stored),
        region=ByteRange(buffer=stored, offset_bytes=0, size_bytes=array.nbytes),
        dtype=DType.from_numpy(array.dtype),
        shape=tuple(array.shape),
        layout=row_major(array.ndim),
        written=False,
    )


def _value(operand: str, name: str, book: AddressBook, inner: Mapping[str, str], *, written: bool) -> OperandBinding:
    scheduled = book.allocated.tiled.scheduled
    tensor, storage = scheduled.bound.graph.tensors[name], scheduled.storage[name]
    region = ByteRange(buffer=storage.buffer, offset_bytes=storage.offset_bytes, size_bytes=tensor.size_bytes)
    if name in inner:
        region = ByteRange(buffer=inner[name], offset_bytes=0, size_bytes=book.buffers[inner[name]].size_bytes)
    return OperandBinding(
        operand=operand,
        what=name,
        place=book.of_buffer(inner[name]) if name in inner else book.of_value(name),
        region=region,
        dtype=tensor.dtype,
        shape=tensor.shape,
        layout=scheduled.bound.layouts[name],
        written=written,
    )
