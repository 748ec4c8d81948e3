"""Knows how far graph passes that may change what is computed have moved each output: at most, on average, in steps.
Does not know any pass, nor what moves by rounding alone (`drift`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tilewright.comparison.verdicts import Move, difference
from tilewright.ir.graphs.graph import Graph

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Values = Sequence[Mapping[str, "Array"]]  # of each set of inputs, by name


class PassRun(Protocol):
    """What a graph pass has done."""

    @property
    def name(self) -> str:
        """Of the pass."""

    @property
    def graph(self) -> Graph:
        """After it."""

    @property
    def lossy(self) -> bool:
        """Whether it may change what is computed."""

    @property
    def idle(self) -> bool:
        """Whether it left everything as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossyRun:
    """The graphs before and after a pass that changes what is computed."""

    name: str
    before: Graph
    after: Graph


def lossy_runs(imported: Graph, trail: Sequence[PassRun]) -> tuple[LossyRun, ...]:
    """Every pass that changed what is computed, with the graphs around it."""
    befores = (imported, *(record.graph for record in trail))
    pairs = zip(befores, trail, strict=False)
    return tuple(
        LossyRun(name=record.name, before=before, after=record.graph)
        for before, record in pairs
        if record.lossy and not record.idle
    )


def exact_spans(imported: Graph, runs: Sequence[LossyRun], compiled: Graph) -> tuple[tuple[Graph, Graph], ...]:
    """The pairs of graphs between which nothing may have changed but roundings: around and between lossy passes."""
    starts = (imported, *(each.after for each in runs))
    ends = (*(each.before for each in runs), compiled)
    return tuple(zip(starts, ends, strict=True))


def moves_of(run: LossyRun, before: Values, after: Values) -> tuple[Move, ...]:
    """How far each output is, given the values of both graphs."""
    return tuple(_move(run, name, before, after) for name in run.after.outputs)


def _move(run: LossyRun, name: str, before: Values, after: Values) -> Move:
    import numpy as np

    step = _step(run.after, name)
    pairs = [(np.asarray(a[name]), np.asarray(b[name])) for a, b in zip(after, before, strict=True)]
    apart = np.concatenate([difference(*pair).ravel() for pair in pairs]) / (step or 1.0)
    return Move(
        graph_pass=run.name,
        output=name,
        elements=apart.size,
        different=int(np.count_nonzero(apart)),
        largest=float(np.max(apart, initial=0.0)),
        mean=float(np.mean(apart)) if apart.size else 0.0,
        in_steps=step is not None,
        same_largest=sum(a.size == 0 or bool(np.argmax(a) == np.argmax(b)) for a, b in pairs),
        sets=len(pairs),
    )


def _step(graph: Graph, name: str) -> float | None:
    """One step of an output: 1 of integers, the scale of what is dequantised last; None of other floats."""
    if not graph.tensors[name].dtype.is_float:
        return 1.0
    node = graph.producer().get(name)
    scale = graph.constants.get(node.inputs[1]) if node is not None and node.op == "DequantizeLinear" else None
    return float(scale.reshape(-1)[0]) if scale is not None and scale.size == 1 else None


def move_lines(moves: Sequence[Move], sets: str = "sets") -> Iterator[str]:
    """A line for each output that a pass has moved, or one that says that it has moved none. `sets` are the inputs."""
    for move in moves:
        if not move.different:
            continue
        steps = ("step" if move.largest == 1 else "steps") if move.in_steps else "in value"
        yield (
            f"pass '{move.graph_pass}' moved {move.different:,} of {move.elements:,} elements of '{move.output}', by "
            f"{move.largest:.4g} {steps} at most and {move.mean:.2g} on average; the largest element is the same in "
            f"{move.same_largest} of {move.sets} {sets}"
        )
    if moves and not any(move.different for move in moves):
        names = ", ".join(dict.fromkeys(f"'{move.graph_pass}'" for move in moves))
        yield f"pass {names} moved no element of any output, over {moves[0].sets} {sets}"
