"""Knows how one step becomes a C function of one kernel call over whole operands.
Does not know tiles (`tiles`), the other steps, nor the border of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.c_text.identifiers import safe_identifier
from tilewright.c_text.rendering import render_call, render_source, render_wait
from tilewright.ir.access import Access, Window
from tilewright.ir.kernel import Call, Kernel, Matched, Operand
from tilewright.ir.layout import strides
from tilewright.ir.operator import Operator
from tilewright.ir.program import Parameter, StepCode
from tilewright.ir.sections import Section
from tilewright.ir.stages import Step
from tilewright.ir.statements import ByteRange, KernelCall, KernelWait, Statement
from tilewright.lower.addresses import AddressBook
from tilewright.lower.bonds import Bond, bonds_of, scratch_name, scratch_operand
from tilewright.lower.comments import step_comment
from tilewright.lower.copies import copies_before


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A step's function, and the C at file scope that it needs."""

    code: StepCode
    sources: tuple[Section, ...]
    kernel: Kernel


def lower_step(
    index: int, step: Step, book: AddressBook, operators: Mapping[str, Operator], prefix: str, total: int
) -> Lowered:
    """One kernel call over whole operands."""
    bound = book.allocated.tiled.scheduled.bound
    node = next(node for node in bound.graph.nodes if node.name == step.nodes[-1])
    site, binding, operator = bound.site(node), bound.bindings[step.name], operators[node.op]
    bonds = bonds_of(site, operator, binding, book)
    function = f"{prefix}_{index:0{len(str(total - 1))}d}_{safe_identifier(node.op, 'op').lower()}"
    access = bound.layers[node.name].access
    call = _call(site, binding.kernel, access, bonds, step, book, function)
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
                    *(
                        [ByteRange(buffer=scratch.name, offset_bytes=0, size_bytes=scratch.size_bytes)]
                        if scratch
                        else []
                    ),
                ),
            ),
            *([KernelWait(kernel=binding.kernel.name, text=wait)] if wait else []),
        )
    copies, given = copies_before(step, book) if body else ((), ())
    parameters = (*_parameters(bonds, step, book), *given) if body else ()
    code = StepCode(
        step=step.name,
        function=function,
        comment=step_comment(index, total, site, binding, bonds, book, step),
        parameters=tuple(sorted(dict.fromkeys(parameters), key=lambda parameter: parameter.name)),
        body=(*copies, *body),
    )
    return Lowered(code=code, sources=render_source(binding.kernel, call) if body else (), kernel=binding.kernel)


def _call(
    site: Matched, kernel: Kernel, access: Access, bonds: Sequence[Bond], step: Step, book: AddressBook, function: str
) -> Call:
    """The call that computes the whole step at once."""
    box = {loop.name: (0, loop.extent) for loop in access.loops}
    operands = {bond.operand: _operand(bond, access.window(bond.operand, box)) for bond in bonds}
    return Call(
        site=site,
        operands={**operands, "scratch": scratch_operand(step, book)},
        extents={loop.name: str(loop.extent) for loop in access.loops},
        name=function,
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


def _parameters(bonds: Sequence[Bond], step: Step, book: AddressBook) -> tuple[Parameter, ...]:
    places = [bond.place for bond in bonds if bond.region.size_bytes]
    if scratch_name(step) in book.buffers:
        places.append(book.of_buffer(scratch_name(step)))
    return tuple(sorted({place.parameter: None for place in places}, key=lambda parameter: parameter.name))
