"""Knows how graph inputs and outputs look in C: macros, element types, addresses, one sentence each in the header.
Does not know functions or steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from tilewright.c_text.identifiers import comment_text
from tilewright.c_text.layout import WIDTH
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.machines.platform import reachable
from tilewright.ir.plans.stages import TensorParameter
from tilewright.ir.programs.expressions import Cast, Expression, Field, Name
from tilewright.ir.programs.program import Port, PortRows, Program
from tilewright.ir.tensors.dtypes import DType

_TYPE_WORDS = {"f32": "float32", "bool": "bool", "f16": "float16 (as its bits)", "bf16": "bfloat16 (as its bits)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PortText:
    """One graph input or output, ready for the templates. `align` is of the caller's tensor, in bytes."""

    value: str
    member: str
    macro: str
    type: str
    elements: int
    size_bytes: int
    align: int
    shape: tuple[int, ...]
    scale: str  # "" where the tensor is not quantised as a whole
    zero_point: int
    limits: tuple[int, int]  # the least and the largest that is stored
    placed: bool
    pool: str  # base of the pool that it is placed in
    address: str  # inside kws_run; "" where the tensor stays with the caller
    mapped: Expression  # inside the map functions; of no use where `placed` is False
    copied_from: str
    unreachable: bool  # placed where no core can read or write: a copy brings it there
    sentence: str
    dtype: DType
    rows: PortRows | None  # where it passes in rows

    @property
    def length(self) -> str:
        """Of an array that holds the tensor: C has none without elements."""
        return f"{self.macro}_ELEMENTS" if self.elements else "1"


def port_texts(program: Program, ports: Sequence[Port], direction: str) -> tuple[PortText, ...]:
    """`direction` is "IN" or "OUT"."""
    return tuple(_text(program, port, direction) for port in ports)


def _text(program: Program, port: Port, direction: str) -> PortText:
    tensor, kind = port.tensor, port.tensor.dtype.c_type
    placed = bool(port.pool)
    scale, zero_point = _quantization(tensor)
    pool = Field(Name("pools"), port.pool, arrow=True)
    return PortText(
        value=port.value,
        member=port.member,
        macro=f"{program.prefix.upper()}_{direction}_{port.member.upper()}",
        type=kind,
        elements=tensor.elements,
        size_bytes=tensor.size_bytes,
        align=port.align,
        shape=tensor.shape,
        scale=scale,
        zero_point=zero_point,
        limits=(0, 0) if tensor.dtype.is_float else tensor.dtype.limits,
        placed=placed,
        pool=port.pool,
        address=str(Name(port.pool) + port.offset) if placed else "",
        mapped=Cast(f"{kind} *", Cast("uint8_t *", pool) + port.offset if port.offset_bytes else pool),
        copied_from=port.copied_from,
        unreachable=port.pool in unreachable_bases(program),
        sentence=_in_lines(_sentence(program, port, direction)),
        dtype=tensor.dtype,
        rows=port.rows,
    )


def unreachable_bases(program: Program) -> frozenset[str]:
    """Bases of the memories that no core can read or write."""
    platform = program.allocated.tiled.scheduled.bound.platform
    pools = (*program.pools, *program.constants)
    return frozenset(pool.base for pool in pools if not reachable(platform, pool.memory))


def _quantization(tensor: Tensor) -> tuple[str, int]:
    quantization = tensor.quantization
    if quantization is None or len(quantization.scale) != 1:
        return "", 0
    return decimal_float(quantization.scale[0]), quantization.zero_point[0]


def decimal_float(value: float) -> str:
    """A float32 as a decimal literal that reads back to the same bits: valid in C90 and C++11."""
    if not math.isfinite(value):
        raise ValueError(f"{value} has no decimal literal")
    digits = f"{value:.9g}"
    return f"{digits}f" if "." in digits or "e" in digits else f"{digits}.0f"


def parameters_of(program: Program) -> tuple[TensorParameter, ...]:
    """Inputs in the order of the graph, then outputs."""
    inputs, outputs = port_texts(program, program.inputs, "IN"), port_texts(program, program.outputs, "OUT")
    return tuple(
        TensorParameter(value=port.value, name=port.member, type=port.type, elements=port.length, is_input=is_input)
        for ports, is_input in ((inputs, True), (outputs, False))
        for port in ports
    )


def _in_lines(sentence: str) -> str:
    """As in a comment. A name may be longer than a line."""
    return "\n * ".join(wrap(sentence, WIDTH - len("/*  */"), break_long_words=False, break_on_hyphens=False))


def _sentence(program: Program, port: Port, direction: str) -> str:
    word = "input" if direction == "IN" else "output"
    kind = _TYPE_WORDS.get(port.tensor.dtype.value, port.tensor.dtype.c_type.removesuffix("_t"))
    head = f"{word} {comment_text(port.value)}: {kind} [{', '.join(map(str, port.tensor.shape))}]"
    if port.rows:
        passing = "arrives" if direction == "IN" else "is taken"
        return f"{head}, {passing} in rows: {port.rows.count} of {port.rows.size_bytes} bytes"
    if not port.pool:
        return f"{head}, in the caller's memory"
    where = f"{head}, in {port.pool} at byte {port.offset_bytes}"
    lasting = _lasts(program, port)
    if direction == "IN":
        where += ", still there after a run" if lasting else ", reused during a run"
    return where if port.private else f"{where}; shares bytes with another input or output"


def _lasts(program: Program, port: Port) -> bool:
    scheduled = program.allocated.tiled.scheduled
    root = scheduled.storage[port.value].buffer
    buffer = next(buffer for buffer in program.allocated.tiled.buffers if buffer.name == root)
    return buffer.last >= len(scheduled.steps) - 1
