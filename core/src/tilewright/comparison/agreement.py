"""Knows how what a runner computed agrees with what another runtime did: node by node, in ULP for floats and in steps
for integers. Does not know either of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.comparison.drift import drifts_of
from tilewright.comparison.verdicts import Drift
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Values = Sequence[Mapping[str, "Array"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAgreement:
    """One value over all sets, against the same value of another runtime."""

    node: str
    op: str
    drift: Drift
    distance: int  # the largest, in `unit`
    unit: str  # "ULP": representable floats; "step(s)" of integers
    output: bool  # of the model


def agreements(graph: Graph, ours: Values, theirs: Values, *, rounds: bool) -> tuple[NodeAgreement, ...]:
    """Every value that both have with one type and shape, in the order of the nodes of `graph`. `rounds`: the model
    quantises, so that a rounding may fall otherwise.
    """
    names = [name for node in graph.nodes for name in node.outputs if _comparable(name, ours, theirs)]
    producer = graph.producer()
    return tuple(
        NodeAgreement(
            node=producer[drift.verdict.name].name,
            op=producer[drift.verdict.name].op,
            drift=drift,
            distance=_distance(drift.verdict.name, ours, theirs),
            unit="ULP" if graph.tensors[drift.verdict.name].dtype.is_float else "step(s)",
            output=drift.verdict.name in graph.outputs,
        )
        for drift in drifts_of(graph, names, theirs, ours, rounds=rounds)
    )


def first_suspicious(found: Sequence[NodeAgreement]) -> NodeAgreement | None:
    """The first node whose value is further from the other's than roundings may take it."""
    return next((one for one in found if not one.drift.within), None)


def _comparable(name: str, ours: Values, theirs: Values) -> bool:
    return all(
        name in one and name in other and one[name].shape == other[name].shape and one[name].dtype == other[name].dtype
        for one, other in zip(ours, theirs, strict=True)
    )


def _distance(name: str, ours: Values, theirs: Values) -> int:
    import numpy as np

    pairs = [(_ordered(one[name]), _ordered(other[name])) for one, other in zip(ours, theirs, strict=True)]
    return max((int(np.max(np.abs(one - other), initial=0)) for one, other in pairs), default=0)


def _ordered(values: Array) -> npt.NDArray[np.int64]:
    """Integers in the order of the values, neighbours one apart. Both zeros are 0."""
    import numpy as np

    dtype = DType.from_numpy(values.dtype)
    if not dtype.is_float:
        return values.astype(np.int64)
    bits = np.ascontiguousarray(values).view(f"i{dtype.size_bytes}").astype(np.int64)
    return np.where(bits < 0, -(bits & ((1 << (8 * dtype.size_bytes - 1)) - 1)), bits)
