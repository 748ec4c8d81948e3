"""Knows how the values that a runner returned are judged: every step against its reference on the inputs that the
program itself had. Does not know how anything was run, nor what is expected of outputs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.ir.graphs.carried_errors import carried, own_limits
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Graph, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import open_padding
from tilewright.ir.log_span import log_begin

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

LARGEST = sys.float_info.max  # JSON has no infinity
_DRAWS = 8  # of the signs of errors that cannot be seen
_SIGNS = MappingProxyType({0: (1.0,), 1: (-1.0,)})  # of the first two, the same for all elements


@dataclass(frozen=True, slots=True, kw_only=True)
class StepVerdict:
    """One step over all sets. `exact`: bit-equal for integers, inside the operator's error model for floats."""

    name: str
    op: str
    exact: bool
    different: int  # elements that are not exact
    max_difference: float
    bit_equal: bool = True  # nothing differs at all
    of_allowed: float = 0.0  # the largest difference inside the error model, as a share of what that allows there


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputVerdict:
    """One graph output over all sets. Against the reference, steps are what is judged: an output is right where it is
    what its step wrote. Against values from outside, each element has its tolerance.
    """

    name: str
    elements: int
    different: int
    max_difference: float
    argmax_equal: bool
    within: bool  # what its step wrote and, where expected values are given, inside the tolerance of each element
    allowed: float | None = None  # the tolerance of the element that is nearest to it; None beside the reference
    bound: float | None = None  # how far right steps may take it from the reference, where that can be worked out
    given: bool = False  # the expected values come from outside
    share: float = 0.0  # given: root of the mean square difference over the standard deviation of what is expected
    is_float: bool = False
    as_written: bool = True  # what is handed out is what its step wrote


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One graph output over all sets: of the graph that is compiled, against the graph as it was imported."""

    verdict: OutputVerdict
    share: float  # root of the mean square difference over the standard deviation of what is expected
    within: bool  # what roundings that fall otherwise may do


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What one pass has done to one output, over all sets. Distances are in steps of the output, where it has any."""

    graph_pass: str
    output: str
    elements: int
    different: int
    largest: float
    mean: float  # of all elements, those that did not move included
    in_steps: bool
    same_largest: int  # sets whose largest element is still the same one
    sets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The whole validation. Passes when every step is inside its own error model, every output is what its step wrote
    (and within the tolerance of expected values, where there are any), and graph passes have changed no output by more
    than roundings may.
    """

    steps: tuple[StepVerdict, ...]
    outputs: tuple[OutputVerdict, ...]
    inner: tuple[str, ...] = ()  # steps of groups whose values never exist whole: judged by what the group writes
    drift: tuple[Drift, ...] = ()
    moves: tuple[Move, ...] = ()  # what passes have moved that may: a decision, not judged
    windows: tuple[OutputVerdict, ...] = ()  # of a stream: outputs against the whole network on every window
    unseen: int = 0  # calls of a long stream that are judged by that alone, before those that are judged step by step

    @property
    def passed(self) -> bool:
        """Whether the validation passes."""
        outputs = (*(output.within for output in (*self.outputs, *self.windows)), *(d.within for d in self.drift))
        return all(step.exact for step in self.steps) and all(outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """The verdicts of a run's steps, and of each set what the graph's outputs are by what the steps wrote."""

    steps: tuple[StepVerdict, ...]
    outputs: tuple[Mapping[str, Array], ...]


def judge_steps(
    graph: Graph,
    executed: Sequence[str],
    operators: Mapping[str, Operator],
    inputs: Sequence[Mapping[str, Array]],
    written: Sequence[Mapping[str, Array]],
) -> tuple[StepVerdict, ...]:
    """Only the verdicts of `judge_run`."""
    return judge_run(graph, executed, operators, inputs, written).steps


def judge_run(
    graph: Graph,
    executed: Sequence[str],
    operators: Mapping[str, Operator],
    inputs: Sequence[Mapping[str, Array]],
    written: Sequence[Mapping[str, Array]],
    states: Mapping[str, str] = MappingProxyType({}),
) -> JudgedRun:
    """Feed every step's reference with the very values that the run computed, and compare what it wrote. `states` are
    inputs that are this output of the set before, as the run has made it, a view of what it wrote included.

    A value that never exists whole, in tiles of a group, is the reference's; the error that it may have is allowed to
    the steps that read it. A value that was seen row by row is judged as any other, but for rows that nobody reads,
    which are not computed (masked).
    """
    worst: dict[str, StepVerdict] = {}
    outputs: list[Mapping[str, Array]] = []
    for number, (set_inputs, values) in enumerate(zip(inputs, written, strict=True), 1):
        log_begin("steps of set %d of %d", number, len(inputs))
        known: dict[str, Array] = {**graph.constants, **set_inputs}
        known |= {name: outputs[-1][before] for name, before in states.items() if outputs}
        unseen: dict[str, npt.NDArray[np.float64]] = {}  # value -> how far it may be from what is known of it
        for site in graph.sites():
            arrays = [known[name] if name else None for name in site.node.inputs]
            operator = operators[site.node.op]
            references = results(operator, site, arrays)
            named = dict(zip(site.node.outputs, references, strict=True))
            known |= named
            runs = site.node.name in executed
            if not runs and unseen.keys().isdisjoint(site.node.inputs):
                continue
            limits = dict(zip(named, _allowed(site, operator, arrays, references, unseen), strict=True))
            seen = [name for name in named if runs and name in values]
            got = {name: _completed(values[name], named[name]) for name in seen}
            unseen |= {name: limit for name, limit in limits.items() if name not in got and limit.any()}
            known |= got
            if got:
                worst[site.node.name] = _worse(worst.get(site.node.name), _judged(site, operator, limits, named, got))
        outputs.append({name: known[name] for name in graph.outputs})
    return JudgedRun(steps=tuple(worst.values()), outputs=tuple(outputs))


def _completed(computed: Array, reference: Array) -> Array:
    """The computed values; the reference's in rows that no step reads, which were not computed."""
    import numpy as np

    if not isinstance(computed, np.ma.MaskedArray):
        return computed
    filled: Array = np.where(np.ma.getmaskarray(computed), reference, computed.data)
    return filled


def _allowed(
    site: Site,
    operator: Operator,
    arrays: Sequence[Array | None],
    references: Sequence[Array],
    unseen: Mapping[str, npt.NDArray[np.float64]],
) -> list[npt.NDArray[np.float64]]:
    """How far each output may be from its reference: the operator's error model, and errors of inputs carried on.

    Where nothing can be proved of the operator, signs of errors are drawn, and twice the largest effect of some
    drawings counts. All errors upwards and all downwards are among them.
    """
    import numpy as np

    own = own_limits(operator, site, arrays)
    errors = {at: unseen[name] for at, name in enumerate(site.node.inputs) if name in unseen}
    if not errors:
        return own
    proved = carried(operator, site, arrays, references, errors)
    if proved is not None:
        return proved
    limits = list(own)
    numbers = np.random.default_rng(0)
    for number in range(_DRAWS):
        moved = list(arrays)
        for position, error in errors.items():
            array = np.asarray(arrays[position])
            signs = numbers.choice(_SIGNS.get(number, (-1.0, 1.0)), array.shape)
            moved[position] = np.add(array, signs * error).astype(array.dtype)
        for at, result in enumerate(results(operator, site, moved)):
            limits[at] = np.maximum(limits[at], own[at] + 2 * difference(result, references[at]))
    return limits


def _judged(
    site: Site,
    operator: Operator,
    limits: Mapping[str, npt.NDArray[np.float64]],
    references: Mapping[str, Array],
    got: Mapping[str, Array],
) -> StepVerdict:
    import numpy as np

    different, largest, share = 0, 0.0, 0.0
    names = dict(zip(operator.outputs, site.node.outputs, strict=False))
    anything = {names[operand]: mask for operand, mask in open_padding(site.node, operator, site.outputs).items()}
    for name, array in got.items():
        limit = limits[name]
        apart = np.where(anything.get(name, False), 0.0, difference(array, references[name]))
        inside = (apart > 0) & (apart <= limit)  # limits of NaN are NaN
        different += int(np.count_nonzero((apart > 0) & ~inside))
        largest = max(largest, float(np.max(apart, initial=0.0)))
        share = max(
            share, float(np.max(np.divide(apart, limit, where=inside, out=np.zeros(inside.shape)), initial=0.0))
        )
    return StepVerdict(
        name=site.node.name,
        op=site.node.op,
        exact=different == 0,
        different=different,
        max_difference=largest,
        bit_equal=largest == 0,
        of_allowed=share,
    )


def difference(computed: Array, expected: Array) -> npt.NDArray[np.float64]:
    """|computed - expected|: 0 where both are the same NaN or infinity, the largest double where only one is."""
    import numpy as np

    left, right = np.asarray(computed, np.float64), np.asarray(expected, np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(same, 0.0, np.nan_to_num(np.abs(left - right), nan=LARGEST, posinf=LARGEST))


def _worse(before: StepVerdict | None, now: StepVerdict) -> StepVerdict:
    if before is None:
        return now
    return StepVerdict(
        name=now.name,
        op=now.op,
        exact=before.exact and now.exact,
        different=before.different + now.different,
        max_difference=max(before.max_difference, now.max_difference),
        bit_equal=before.bit_equal and now.bit_equal,
        of_allowed=max(before.of_allowed, now.of_allowed),
    )
