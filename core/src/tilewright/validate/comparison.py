"""Knows how what a runner returned is judged: every step against its reference on the same inputs, every output
against what is expected. Does not know how anything was run.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.ir.dataclass import dataclass
from tilewright.ir.evaluation import allowed, results
from tilewright.ir.graph import Graph, Site
from tilewright.ir.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

LARGEST = sys.float_info.max  # JSON has no infinity
_DRAWS = 8  # of the signs of errors that cannot be seen
_SIGNS = MappingProxyType({0: (1.0,), 1: (-1.0,)})  # of the first two, for all elements alike
FLOAT_TOLERANCE = 1e-4  # of final outputs against given vectors, relative to the largest expected value (or 1)
HALF_ROUNDINGS = 16  # the same where a graph has floats of 16 bits: how many roundings may fall otherwise


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
    """One graph output over all sets, against the expected values."""

    name: str
    elements: int
    different: int
    max_difference: float
    argmax_equal: bool
    within: bool  # the largest difference is allowed
    allowed: float = 1.0  # one step for integers, FLOAT_TOLERANCE of the largest expected value for floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One graph output over all sets: of the graph that is compiled, against the graph as it was imported."""

    verdict: OutputVerdict
    share: float  # root of the mean square difference over the standard deviation of what is expected
    within: bool  # what roundings that fall otherwise may do


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The whole validation. Passes when every step is exact, every output is within its tolerance, and graph passes
    have changed no output by more than roundings may.
    """

    steps: tuple[StepVerdict, ...]
    outputs: tuple[OutputVerdict, ...]
    inner: tuple[str, ...] = ()  # steps of groups whose values never exist whole: judged by what the group writes
    drift: tuple[Drift, ...] = ()

    @property
    def passed(self) -> bool:
        """The verdict in one word."""
        outputs = (*(output.within for output in self.outputs), *(one.within for one in self.drift))
        return all(step.exact for step in self.steps) and all(outputs)


def judge_steps(
    graph: Graph,
    executed: Sequence[str],
    operators: Mapping[str, Operator],
    inputs: Sequence[Mapping[str, Array]],
    written: Sequence[Mapping[str, Array]],
) -> tuple[StepVerdict, ...]:
    """Feed every step's reference with the very values that the run computed, and compare what it wrote.

    A value that never exists whole, in tiles of a group, is what the reference says; what its own error may do to the
    steps that read it is allowed them. One that was seen row by row is judged as any other, but for rows that nobody
    reads, which are not computed (masked).
    """
    worst: dict[str, StepVerdict] = {}
    for given, values in zip(inputs, written, strict=True):
        known: dict[str, Array] = {**graph.constants, **given}
        unseen: dict[str, npt.NDArray[np.float64]] = {}  # value -> how far it may be from what is known of it
        for site in graph.sites():
            arrays = [known[name] if name else None for name in site.node.inputs]
            operator = operators[site.node.op]
            references = results(operator, site, arrays)
            if site.node.name not in executed:
                known.update(zip(site.node.outputs, references, strict=True))
                continue
            limits = _allowed(site, operator, arrays, references, unseen)
            if any(name not in values for name in site.node.outputs):
                known.update(zip(site.node.outputs, references, strict=True))
                unseen |= {name: one for name, one in zip(site.node.outputs, limits, strict=True) if one.any()}
                continue
            got = {
                name: _completed(values[name], reference)
                for name, reference in zip(site.node.outputs, references, strict=True)
            }
            worst[site.node.name] = _worse(worst.get(site.node.name), _judge_step(site, limits, references, got))
            known.update(got)
    return tuple(worst.values())


def _completed(computed: Array, reference: Array) -> Array:
    """What was computed; where it was not, because nobody reads that, what it would be."""
    import numpy as np

    if not isinstance(computed, np.ma.MaskedArray):
        return computed
    filled: Array = np.where(np.ma.getmaskarray(computed), reference, computed.data)
    return filled


def judge_outputs(
    graph: Graph, got: Sequence[Mapping[str, Array]], expected: Sequence[Mapping[str, Array]]
) -> tuple[OutputVerdict, ...]:
    """Compare final outputs with expected ones; those without expectation, or kept as state, are left out."""
    return judge_values(graph, graph.outputs, got, expected)


def judge_values(
    graph: Graph, among: Sequence[str], got: Sequence[Mapping[str, Array]], expected: Sequence[Mapping[str, Array]]
) -> tuple[OutputVerdict, ...]:
    """The same for any values of the graph."""
    names = [name for name in among if all(name in values for values in (*got, *expected))]
    share = max(FLOAT_TOLERANCE, half_share(graph))
    return tuple(
        _judge_output(name, got, expected, share if graph.tensors[name].dtype.is_float else None) for name in names
    )


def half_share(graph: Graph) -> float:
    """How far outputs may be off where a graph has floats of 16 bits: a share of the largest; 0 where it has none."""
    coarsest = max((each.dtype.unit for each in graph.tensors.values() if each.dtype.is_half), default=0.0)
    return HALF_ROUNDINGS * coarsest


def _allowed(
    site: Site,
    operator: Operator,
    arrays: Sequence[Array | None],
    references: Sequence[Array],
    unseen: Mapping[str, npt.NDArray[np.float64]],
) -> list[npt.NDArray[np.float64]]:
    """How far each output may be from its reference: the operator's error model, and errors of inputs carried on.

    Where a sum of many terms goes cannot be said without their signs: they are drawn, and twice the largest effect of
    some drawings counts. All errors upwards and all downwards are among them: a value that lies between two steps of a
    quantisation may go either way.
    """
    import numpy as np

    model = allowed(operator, site, arrays)
    own = [np.zeros(()) if one is None else np.asarray(one, np.float64) for one in model]
    limits = list(own)
    if unseen.keys().isdisjoint(site.node.inputs):
        return limits
    numbers = np.random.default_rng(0)
    for number in range(_DRAWS):
        moved = list(arrays)
        for position, name in enumerate(site.node.inputs):
            array = arrays[position]
            if name in unseen and array is not None:
                signs = numbers.choice(_SIGNS.get(number, (-1.0, 1.0)), array.shape)
                moved[position] = np.add(array, signs * unseen[name]).astype(array.dtype)
        for at, result in enumerate(results(operator, site, moved)):
            limits[at] = np.maximum(limits[at], own[at] + 2 * _difference(result, references[at]))
    return limits


def _judge_step(
    site: Site, allowed: Sequence[npt.NDArray[np.float64]], references: Sequence[Array], got: Mapping[str, Array]
) -> StepVerdict:
    import numpy as np

    different, largest, share = 0, 0.0, 0.0
    for name, reference, limit in zip(site.node.outputs, references, allowed, strict=True):
        difference = _difference(got[name], reference)
        inside = (difference > 0) & (difference <= limit)  # limits of NaN are NaN
        different += int(np.count_nonzero((difference > 0) & ~inside))
        largest = max(largest, float(np.max(difference, initial=0.0)))
        share = max(
            share, float(np.max(np.divide(difference, limit, where=inside, out=np.zeros(inside.shape)), initial=0.0))
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


def _difference(one: Array, other: Array) -> npt.NDArray[np.float64]:
    """|one - other|: 0 where both are the same NaN or infinity, the largest double where only one of them is."""
    import numpy as np

    left, right = np.asarray(one, np.float64), np.asarray(other, np.float64)
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


def _judge_output(
    name: str, got: Sequence[Mapping[str, Array]], expected: Sequence[Mapping[str, Array]], share: float | None
) -> OutputVerdict:
    """`share` of the largest expected value is allowed; None for integers, one step."""
    import numpy as np

    differences = [_difference(one[name], other[name]) for one, other in zip(got, expected, strict=True)]
    scale = max([1.0, *(float(np.max(np.abs(other[name]), initial=0.0)) for other in expected)])
    largest = max([0.0, *(float(np.max(item, initial=0.0)) for item in differences)])
    allowed = 1.0 if share is None else share * scale
    return OutputVerdict(
        name=name,
        elements=sum(item.size for item in differences),
        different=sum(int(np.count_nonzero(item)) for item in differences),
        max_difference=largest,
        argmax_equal=all(
            bool(np.argmax(one[name]) == np.argmax(other[name]))
            for one, other in zip(got, expected, strict=True)
            if one[name].size
        ),
        within=largest <= allowed,
        allowed=allowed,
    )
