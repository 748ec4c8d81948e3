"""Knows how outputs, or any values, are compared with the values expected of them, element by element.
Does not know how anything was run, nor how steps are judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.comparison.verdicts import LARGEST, OutputVerdict, difference
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Values = Sequence[Mapping[str, "Array"]]  # of each set of inputs, by name
FLOAT_TOLERANCE = 1e-4  # of an element against a value from elsewhere: relative to its size, see `tolerances`
ROUNDED_SHARE = 0.05  # of an output's spread: what roundings that fall otherwise may do, carried through a network
_OUTLYING = 1000  # times the usual size: no part of a spread
_ROUNDING = frozenset(("QuantizeLinear", "Round"))
HALF_ROUNDINGS = 16  # the same where a graph has floats of 16 bits: how many roundings may fall otherwise


def judge_outputs(
    graph: Graph,
    got: Values,
    written: Values,
    known: Values,
    *,
    right: bool = True,
    given: Values = (),
    rounding: bool = False,
    bounds: Mapping[str, float] | None = None,
) -> tuple[OutputVerdict, ...]:
    """Every output that was handed out, of all sets: against the values that are given for it, or else against those
    that are `known` of the reference, where it must be what its step has `written`. `right`: all steps are, so that a
    difference from the reference is theirs to make. `rounding`: the model quantises, so that given values may differ by
    `ROUNDED_SHARE`, too. `bounds`: how far right steps may take an output from the reference; outputs
    without a bound have none that is known.
    """
    names = [name for name in graph.outputs if all(name in values for values in got)]
    verdicts = []
    for name in names:
        pairs = zip(got, written, strict=True)
        as_written = all(not difference(computed[name], own[name]).any() for computed, own in pairs)
        verdict = _compared_with_given(graph, name, got, given, rounding)
        if verdict is None:
            plain = _compared(graph, name, got, known)
            verdict = replace(plain, within=right or not plain.different, allowed=None)
        within = verdict.within and as_written
        verdicts.append(replace(verdict, within=within, as_written=as_written, bound=(bounds or {}).get(name)))
    return tuple(verdicts)


def judge_values(graph: Graph, among: Sequence[str], got: Values, expected: Values) -> tuple[OutputVerdict, ...]:
    """Values of the graph against the same from elsewhere, each element with its tolerance; those that one of the two
    lacks are left out.
    """
    names = [name for name in among if all(name in values for values in (*got, *expected))]
    return tuple(_compared(graph, name, got, expected) for name in names)


def rounds(graph: Graph) -> bool:
    """Whether a value between two steps may fall either way elsewhere, which other layers carry on."""
    return any(node.op in _ROUNDING for node in graph.nodes)


def share_of_spread(name: str, got: Values, expected: Values) -> float:
    """Root of the mean square difference over the standard deviation of what is expected, of all sets together; values
    out of all proportion are no part of the latter.
    """
    import numpy as np

    pairs = [(a[name], np.asarray(b[name], np.float64)) for a, b in zip(got, expected, strict=True)]
    apart = np.concatenate([difference(*pair).ravel() for pair in pairs])
    if not apart.any():
        return 0.0
    known = np.concatenate([b.ravel() for _, b in pairs])
    with np.errstate(all="ignore"):
        share = float(
            np.sqrt(np.mean(np.square(apart))) / np.std(known[np.abs(known) <= _OUTLYING * _usual(np.abs(known))])
        )
    return share if share < LARGEST else LARGEST


def half_share(graph: Graph) -> float:
    """How far outputs may be off where a graph has floats of 16 bits: a share of their size; 0 where it has none."""
    coarsest = max((each.dtype.unit for each in graph.tensors.values() if each.dtype.is_half), default=0.0)
    return HALF_ROUNDINGS * coarsest


def tolerances(dtype: DType, expected: Array, share: float) -> npt.NDArray[np.float64]:
    """The distance that each element may have from an expected value that was computed elsewhere.

    Floats: `share` of the element's own size, of the usual size in the array (the median of what is finite and not 0),
    or of 1, whichever is the largest. One huge value gives no room to the others, and infinities and NaN give none at
    all: they must stand in the same places. Integers of up to 16 bits: a rounding may fall otherwise, one step. Wider
    ones and booleans: none.
    """
    import numpy as np

    if not dtype.is_float:
        return np.full(expected.shape, float(dtype.size_bytes <= 2 and dtype is not DType.BOOL))
    size = np.abs(np.asarray(expected, np.float64))
    return np.where(np.isfinite(size), share * np.maximum(max(1.0, _usual(size)), size), 0.0)


def _usual(sizes: npt.NDArray[np.float64]) -> float:
    """The median of sizes that are finite and not 0; 0 where there are none."""
    import numpy as np

    ordered = np.sort(sizes[np.isfinite(sizes) & (sizes > 0)], axis=None)
    return float(ordered[(len(ordered) - 1) // 2]) if len(ordered) else 0.0


def _compared_with_given(
    graph: Graph, name: str, got: Values, expected: Values, rounding: bool
) -> OutputVerdict | None:
    """Over the sets that have an expected value; None where none has."""
    sets = [number for number, values in enumerate(expected) if name in values]
    if not sets:
        return None
    values = [got[number] for number in sets], [expected[number] for number in sets]
    verdict, share = _compared(graph, name, *values), share_of_spread(name, *values)
    return replace(verdict, given=True, share=share, within=verdict.within or (rounding and share <= ROUNDED_SHARE))


def _compared(graph: Graph, name: str, got: Values, expected: Values) -> OutputVerdict:
    import numpy as np

    dtype, share = graph.tensors[name].dtype, max(FLOAT_TOLERANCE, half_share(graph))
    pairs = [(np.asarray(a[name]), np.asarray(b[name])) for a, b in zip(got, expected, strict=True)]
    apart = np.concatenate([difference(*pair).ravel() for pair in pairs])
    limits = np.concatenate([tolerances(dtype, b, share).ravel() for _, b in pairs])
    nearest = int(np.argmax(apart - limits)) if apart.size else None
    return OutputVerdict(
        name=name,
        elements=apart.size,
        different=int(np.count_nonzero(apart)),
        max_difference=float(np.max(apart, initial=0.0)),
        argmax_equal=all(bool(np.argmax(a) == np.argmax(b)) for a, b in pairs if a.size),
        within=bool(np.all(apart <= limits)),
        allowed=0.0 if nearest is None else float(limits[nearest]),
        is_float=dtype.is_float,
    )
