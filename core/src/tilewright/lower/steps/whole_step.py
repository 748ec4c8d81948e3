"""Knows how one step becomes a C function of one kernel call over whole operands.
Does not know tiles (`tiles`), the other steps, nor the border of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.c_text.identifiers import safe_identifier
from tilewright.c_text.rendering import render_call, render_source, render_wait
from tilewright.ir.access.index_map import Access, Window, touched
from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.graphs.graph import Node
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, Matched, Operand
from tilewright.ir.plans.stages import Buffer, Step
from tilewright.ir.programs.program import Parameter, StepCode
from tilewright.ir.programs.statements import ByteRange, KernelCall, KernelWait, Statement
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import strides
from tilewright.lower.operands.addresses import AddressBook
from tilewright.lower.operands.operand_bindings import (
    OperandBinding,
    base_parameters,
    operand_bindings,
    pointer_to,
    scratch_name,
    scratch_operand,
)
from tilewright.lower.operands.scope import declared, used
from tilewright.lower.steps.persistent import copies_before
from tilewright.lower.steps.step_comments import step_comment
from tilewright.lower.steps.step_ending import Ending
from tilewright.lower.tiles.tile_operands import operand_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A step's function, and the C at file scope that it needs."""

    code: StepCode
    sources: tuple[CodeFragment, ...]
    kernel: Kernel
    ending: Ending | None = None  # what stands at the end of a later step's function


def lower_step(
    index: int, step: Step, node: Node, book: AddressBook, operators: Mapping[str, Operator], prefix: str, total: int
) -> Lowered:
    """One kernel call over whole operands; `node` is the last of the step."""
    bound = book.allocated.tiled.scheduled.bound
    site, node_binding, operator = bound.site(node), bound.bindings[step.name], operators[node.op]
    bindings = operand_bindings(site, operator, node_binding, book)
    function = f"{prefix}_{index:0{len(str(total - 1))}d}_{safe_identifier(node.op, 'op').lower()}"
    access = bound.layers[node.name].access
    places = node_binding.kernel.pack_placed is not None
    pointers, call = _call(site, access, bindings, step, book, function, places=places)
    body = (*copies_before(step, book), *_computed(step, node_binding.kernel, call, pointers, bindings, book))
    if not any(binding.region.size_bytes for binding in bindings if binding.written):
        body = ()
    code = StepCode(
        step=step.name,
        function=function,
        comment=step_comment(index, total, site, node_binding, bindings, book, step),
        parameters=tuple(sorted(used(book.bases, body), key=lambda parameter: parameter.name)),
        body=body,
    )
    return Lowered(
        code=code, sources=render_source(node_binding.kernel, call) if body else (), kernel=node_binding.kernel
    )


def _computed(
    step: Step,
    kernel: Kernel,
    call: Call,
    pointers: Sequence[Statement],
    bindings: Sequence[OperandBinding],
    book: AddressBook,
) -> tuple[Statement, ...]:
    """The kernel's call, and the variables that it names."""
    scratch, wait = book.buffers.get(scratch_name(step)), render_wait(kernel, call)
    written = [binding.region for binding in bindings if binding.written]
    if scratch is not None:
        written.append(ByteRange(buffer=scratch.name, offset_bytes=0, size_bytes=scratch.size_bytes))
    calls: list[Statement] = [
        KernelCall(
            kernel=kernel.name,
            code=render_call(kernel, call),
            reads=tuple(binding.region for binding in bindings if not binding.written),
            writes=tuple(written),
            awaited=bool(wait),
        ),
    ]
    if wait:
        calls.append(KernelWait(kernel=kernel.name, code=wait))
    return (*declared(pointers, calls), *calls)


def _call(
    site: Matched,
    access: Access,
    bindings: Sequence[OperandBinding],
    step: Step,
    book: AddressBook,
    function: str,
    *,
    places: bool,
) -> tuple[list[Statement], Call]:
    """The call that computes the whole step at once, and the variables that point to its operands."""
    names, pointers, operands = operand_names(bindings, book), list[Statement](), dict[str, Operand]()
    for binding in bindings:
        window = touched(access, binding.operand)
        address = binding.place.address + _skipped(binding, window)
        pointers.append(pointer_to(address, names[binding.operand], binding.dtype, written=binding.written))
        operands[binding.operand] = _operand(binding, window, names[binding.operand])
    scratch = book.buffers.get(scratch_name(step))
    if scratch is not None:
        pointers.append(pointer_to(book.of_buffer(scratch.name).address, "scratch", DType.U8, written=True))
    call = Call(
        site=site,
        operands={**operands, "scratch": scratch_operand(*("scratch", scratch.size_bytes) if scratch else ("NULL", 0))},
        extents={loop.name: str(loop.extent) for loop in access.loops},
        name=function,
        bases=tuple(base.name for base in _bases(bindings, scratch, book)) if places else (),
    )
    return pointers, call


def _bases(bindings: Sequence[OperandBinding], scratch: Buffer | None, book: AddressBook) -> tuple[Parameter, ...]:
    """What a kernel that packs places counts from."""
    buffers = [binding.region.buffer for binding in bindings]
    return base_parameters([*buffers, *([scratch.name] if scratch else [])], book)


def _skipped(binding: OperandBinding, window: Window) -> int:
    """Bytes before the first one that is read."""
    steps = strides(binding.shape, binding.layout)
    return binding.dtype.size_bytes * sum(span.low * step for span, step in zip(window, steps, strict=True))


def _operand(binding: OperandBinding, window: Window, name: str) -> Operand:
    """The operand as a call over all loops sees it: what is never read is left out, what is padding is counted."""
    return Operand(
        name=binding.operand,
        pointer=name,
        dtype=binding.dtype,
        shape=binding.shape,
        strides=strides(binding.shape, binding.layout),
        extents=tuple(str(span.extent) for span in window),
        origin=tuple(str(span.low) for span in window),
        before=tuple(str(span.before) for span in window),
        after=tuple(str(span.after) for span in window),
    )
