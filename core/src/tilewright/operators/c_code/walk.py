"""Knows how a kernel that treats all elements alike walks its operands: nested loops, one step per operand each.
Does not know what happens to an element.

A call snippet runs the outer loops (`nest`) as C text, around a function that runs the inner ones.

Extents may be C expressions that only the running program knows (remainder tiles); steps are numbers. Loops are
ordered so that the output is written forwards, and joined where no operand has a gap between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.operators.c_code.c_elements import Elements, conversions

if TYPE_CHECKING:
    from tilewright.ir.machines.kernel import Call, Operand

NO_SCALARS: Mapping[str, tuple[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Loops, outermost first; `steps[operand][i]` is how many elements loop i moves that operand."""

    extents: tuple[str, ...]
    steps: Mapping[str, tuple[int, ...]]

    @property
    def depth(self) -> int:
        """How many loops."""
        return len(self.extents)

    def arguments(self, operands: Mapping[str, object], scalars: Sequence[str] = ()) -> str:
        """What a function of `elementwise.c` is called with: extents, each operand (as C) and its steps, scalars."""
        parts = list(self.extents)
        for name, steps in self.steps.items():
            parts += [str(operands[name]), *(str(step) for step in steps)]
        return ", ".join((*parts, *scalars))


def walk(extents: Sequence[str], steps: Mapping[str, Sequence[int]], leader: str) -> Walk:
    """The loops over `extents`, widest step of the operand `leader` outermost, joined where all operands allow it."""
    order = sorted(range(len(extents)), key=lambda axis: -abs(steps[leader][axis]))
    loops: list[tuple[str, tuple[int, ...]]] = []
    for axis in order:
        extent, moves = extents[axis], tuple(step[axis] for step in steps.values())
        if extent == "1":
            continue
        if loops and extent.isdigit() and _seamless(loops[-1][1], moves, int(extent)):
            loops[-1] = (_product(loops[-1][0], extent), moves)
        else:
            loops.append((extent, moves))
    loops = loops or [("1", (1,) * len(steps))]
    return Walk(
        extents=tuple(extent for extent, _ in loops),
        steps={name: tuple(moves[j] for _, moves in loops) for j, name in enumerate(steps)},
    )


def elementwise_walk(operands: Mapping[str, Operand], output: str, inputs: Sequence[str]) -> Walk:
    """The loops over a tile of `output`, the inputs broadcast to it as ONNX does."""
    target = operands[output]
    steps = {name: broadcast_steps(operands[name], target) for name in inputs}
    return walk(target.extents, {**steps, output: target.strides}, output)


def broadcast_steps(operand: Operand, target: Operand) -> tuple[int, ...]:
    """How far `operand` moves along each axis of `target`; 0 where it has one element, or no such axis."""
    missing = len(target.shape) - len(operand.shape)
    own = (
        0 if extent == 1 and target.shape[missing + axis] != 1 else operand.strides[axis]
        for axis, extent in enumerate(operand.shape)
    )
    return (*(0,) * missing, *own)


def elementwise_values(
    call: Call, name: str, expression: str, *, output: str = "Y", scalars: Mapping[str, tuple[str, str]] = NO_SCALARS
) -> Mapping[str, object]:
    """What `elementwise.c` and its call need, for a kernel whose inputs are all broadcast to `output`.

    `expression` is over the operands' names in lower case, floats of 16 bits as float, and over `scalars`, name ->
    (C type, value).
    """
    inputs = [operand for operand in call.operands if operand not in (output, "scratch")]
    loops = elementwise_walk(call.operands, output, inputs)
    elements = {operand: Elements(dtype=call.operands[operand].dtype) for operand in (*inputs, output)}
    return {
        "function": f"tw_{name}_{loops.depth}",
        "depth": loops.depth,
        "inputs": [(operand.lower(), elements[operand].stored) for operand in inputs],
        "read": {operand.lower(): (elements[operand].real, elements[operand].load) for operand in inputs},
        "output": (output.lower(), elements[output].stored),
        "scalars": [(scalar, c_type) for scalar, (c_type, _) in scalars.items()],
        "expression": elements[output].rounded(expression),
        "conversions": conversions(*(each.dtype for each in elements.values())),
        "arguments": loops.arguments(call.operands, [value for _, value in scalars.values()]),
    }


ELEMENTWISE_CALL = "${function}(${arguments});"


def _seamless(outer: Sequence[int], inner: Sequence[int], extent: int) -> bool:
    return all(wide == narrow * extent for wide, narrow in zip(outer, inner, strict=True))


def _product(outer: str, inner: str) -> str:
    if outer.isdigit():
        return str(int(outer) * int(inner))
    return f"{outer} * {inner}"


# Mako for the outer loops: `for` headers, one per line, before the statement that they repeat.
NEST = """\
% for line in nest:
${line}
% endfor
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nest:
    """`headers` are C `for` lines; `offsets` say how far each operand has moved, as ` + ...` or nothing."""

    headers: tuple[str, ...]
    offsets: Mapping[str, str]


def nest(walk: Walk, inner: int, prefix: str = "tw_i") -> Nest:
    """All loops of `walk` but the `inner` innermost ones, which the C function runs itself."""
    count = max(0, walk.depth - inner)
    loops = [index for index in range(count) if walk.extents[index] != "1"]
    names = {index: f"{prefix}{index}" for index in loops}
    return Nest(
        headers=tuple(
            f"for (int32_t {name} = 0; {name} < {walk.extents[index]}; ++{name})" for index, name in names.items()
        ),
        offsets={
            operand: "".join(_moved(name, steps[index]) for index, name in names.items() if steps[index])
            for operand, steps in walk.steps.items()
        },
    )


def _moved(name: str, step: int) -> str:
    return f" + {name}" if step == 1 else f" + ({name} * {step})"


def innermost(walk: Walk) -> tuple[str, dict[str, int]]:
    """Trip count and steps of the innermost loop."""
    return walk.extents[-1], {operand: steps[-1] for operand, steps in walk.steps.items()}
