"""Knows how a call snippet loops over what its C function does not: the outer loops of a walk, as C text.
Does not know what is inside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.operators.c_code.walk import Walk

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
    return f" + {name}" if step == 1 else f" + {name} * {step}"


def innermost(walk: Walk) -> tuple[str, dict[str, int]]:
    """Trip count and steps of the innermost loop."""
    return walk.extents[-1], {operand: steps[-1] for operand, steps in walk.steps.items()}
