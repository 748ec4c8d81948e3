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
from tilewright.ir.stages import Step
from tilewright.ir.statements import ByteRange, KernelCall, KernelWait, Statement
from tilewright.lower.addresses import AddressBook
from tilewright.lower.comments import step_comment
from tilewright.lower.copies import copies_before
from tilewright.lower.operand_bindings import OperandBinding, operand_bindings, scratch_name, scratch_operand


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
    site, node_binding, operator = bound.site(node), bound.bindings[step.name], operators[node.op]
    bindings = operand_bindings(site, operator, node_binding, book)
    function = f"{prefix}_{index:0{len(str(total - 1))}d}_{safe_identifier(node.op, 'op').lower()}"
    access = bound.layers[node.name].access
    call = _call(site, node_binding.kernel, access, bindings, step, book, function)
    scratch = book.buffers.get(scratch_name(step))
    body: tuple[Statement, ...] = ()
    if any(binding.region.size_bytes for binding in bindings if binding.written):
        wait = render_wait(node_binding.kernel, call)
        body = (
            KernelCall(
                kernel=node_binding.kernel.name,
                text=render_call(node_binding.kernel, call),
                reads=tuple(binding.region for binding in bindings if not binding.written),
                writes=(
                    *(binding.region for binding in bindings if binding.written),
                    *(
                        [ByteRange(buffer=scratch.name, offset_bytes=0, size_bytes=scratch.size_bytes)]
                        if scratch
                        else []
                    ),
                ),
            ),
            *([KernelWait(kernel=node_binding.kernel.name, text=wait)] if wait else []),
        )
    copies, given = copies_before(step, book) if body else ((), ())
    parameters = (*_parameters(bindings, step, book), *given) if body else ()
    code = StepCode(
        step=step.name,
        function=function,
        comment=step_comment(index, total, site, node_binding, bindings, book, step),
        parameters=tuple(sorted(dict.fromkeys(parameters), key=lambda parameter: parameter.name)),
        body=(*copies, *body),
    )
    return Lowered(
        code=code, source=render_source(node_binding.kernel, call) if body else "", kernel=node_binding.kernel
    )


def _call(
    site: Matched,
    kernel: Kernel,
    access: Access,
    bindings: Sequence[OperandBinding],
    step: Step,
    book: AddressBook,
    function: str,
) -> Call:
    """The call that computes the whole step at once."""
    box = {loop.name: (0, loop.extent) for loop in access.loops}
    operands = {binding.operand: _operand(binding, access.window(binding.operand, box)) for binding in bindings}
    return Call(
        site=site,
        operands={**operands, "scratch": scratch_operand(step, book)},
        extents={loop.name: str(loop.extent) for loop in access.loops},
        name=function,
    )


def _operand(binding: OperandBinding, window: Window) -> Operand:
    """The operand as a call over all loops sees it: what is never read is left out, what is padding is counted."""
    steps = strides(binding.shape, binding.layout)
    skipped = sum(span.low * step for span, step in zip(window, steps, strict=True))
    place = replace(binding.place, offset_bytes=binding.place.offset_bytes + skipped * binding.dtype.size_bytes)
    return Operand(
        name=binding.operand,
        pointer=place.pointer(binding.dtype.c_type, const=not binding.written),
        dtype=binding.dtype,
        shape=binding.shape,
        strides=steps,
        extents=tuple(str(span.extent) for span in window),
        origin=tuple(str(span.low) for span in window),
        before=tuple(str(span.before) for span in window),
        after=tuple(str(span.after) for span in window),
    )


def _parameters(bindings: Sequence[OperandBinding], step: Step, book: AddressBook) -> tuple[Parameter, ...]:
    places = [binding.place for binding in bindings if binding.region.size_bytes]
    if scratch_name(step) in book.buffers:
        places.append(book.of_buffer(scratch_name(step)))
    return tuple(sorted({place.parameter: None for place in places}, key=lambda parameter: parameter.name))
