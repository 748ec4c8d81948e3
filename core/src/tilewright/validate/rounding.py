"""Knows how far roundings alone may take the outputs of a network: its steps, each disturbed by one.
Does not know what was compiled, nor how it was run.

A network may be ill-conditioned: a softmax over large values, a small difference of large sums. Then steps that are all
right differ from their reference by roundings, and the outputs by much more than a fixed tolerance. How much is tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.ir.evaluation import allowed
from tilewright.ir.graph import Graph
from tilewright.ir.operator import Operator
from tilewright.validate.comparison import OutputVerdict, Verdict
from tilewright.validate.reference import run, run_site

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_TRIES = 2
_ROUNDING = 1 / 8  # of an error model: a rounding or so; the models are bounds of sums of them


def judged_with_roundings(
    verdict: Verdict, graph: Graph, inputs: Sequence[Mapping[str, Array]], operators: Mapping[str, Operator]
) -> Verdict:
    """The verdict, where float outputs may also be off by what a rounding of every step does to them. The same
    where it has passed, or a step is wrong.
    """
    if verdict.passed or not all(step.exact for step in verdict.steps):
        return verdict
    effects = rounding_effects(graph, inputs, operators)
    drift = tuple(replace(one, within=one.within or _explained(one.verdict, effects)) for one in verdict.drift)
    return replace(verdict, outputs=tuple(_judged(one, effects) for one in verdict.outputs), drift=drift)


def rounding_effects(
    graph: Graph, inputs: Sequence[Mapping[str, Array]], operators: Mapping[str, Operator]
) -> dict[str, float]:
    """By float output of the graph the largest difference that was found, over all sets of inputs."""
    import numpy as np

    names = [name for name in graph.outputs if graph.tensors[name].dtype.is_float]
    found = dict.fromkeys(names, 0.0)
    for number, given in enumerate(inputs):
        known = run(graph, given, operators)
        for attempt in range(_TRIES):
            other = disturbed(graph, given, operators, np.random.default_rng((number, attempt)))
            for name in names:
                with np.errstate(all="ignore"):
                    apart = np.abs(other[name].astype(np.float64) - known[name].astype(np.float64))
                found[name] = max(found[name], float(np.max(apart[np.isfinite(apart)], initial=0.0)))
    return found


def disturbed(
    graph: Graph, inputs: Mapping[str, Array], operators: Mapping[str, Operator], draw: np.random.Generator
) -> dict[str, Array]:
    """Every value of the graph, where each step is off by a rounding, as its error model has it, either way."""
    values: dict[str, Array] = {**graph.constants, **inputs}
    for site in graph.sites():
        arrays = tuple(values[name] if name else None for name in site.node.inputs)
        found = run_site(site, arrays, operators)
        limits = allowed(operators[site.node.op], site, arrays)
        moved = (_moved(array, limit, draw) for array, limit in zip(found, limits, strict=False))
        values.update(zip(site.node.outputs, moved, strict=True))
    return values


def _moved(array: Array, limit: Array | None, draw: np.random.Generator) -> Array:
    import numpy as np

    if limit is None:
        return array
    with np.errstate(all="ignore"):
        moved = array + limit * draw.choice((-_ROUNDING, _ROUNDING), array.shape)
        found: Array = np.where(np.isfinite(moved), moved, array).astype(array.dtype)
    return found


def _judged(verdict: OutputVerdict, effects: Mapping[str, float]) -> OutputVerdict:
    if verdict.within or not _explained(verdict, effects):
        return verdict
    return replace(verdict, within=True, allowed=effects[verdict.name])


def _explained(verdict: OutputVerdict, effects: Mapping[str, float]) -> bool:
    return verdict.max_difference <= effects.get(verdict.name, 0.0)
