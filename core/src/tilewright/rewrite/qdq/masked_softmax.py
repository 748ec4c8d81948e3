"""Knows Softmax of quantised values of which a mask leaves some, as attention has it, between integers: a mask that is
added, or selected by Where, of numbers so low that what they mask counts for nothing.
Does not know how masks are made; one that is computed has to be a condition, and its number infinite.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import origins
from tilewright.rewrite.qdq.channels import constant_of
from tilewright.rewrite.qdq.island import Island, Lowered, QuantisedSource
from tilewright.rewrite.qdq.unweighted import softmax_of
from tilewright.rewrite.qdq.weights import Work

if TYPE_CHECKING:
    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

_NOTHING = 40.0  # so far below the smallest value an exponential is 2**-57 of it
_UNKNOWN = "Softmax has no integer form for this mask"


def lower_softmax(island: Island, main: Node, work: Work) -> Lowered:
    """QSoftmax(X), or QMaskedSoftmax(X, M)."""
    plain = island.stored(main.inputs[0])
    if not isinstance(plain, str):
        return softmax_of(island, main, plain)
    mask = island.view.producer.get(main.inputs[0])
    if mask is None or mask.attributes or mask.op not in ("Add", "Where"):
        return plain
    result = _added(island, mask, work) if mask.op == "Add" else _selected(island, mask, work)
    if isinstance(result, str):
        return result
    stored, masked, before = result
    tensors = island.graph.tensors
    if tensors[stored.value].shape != tensors[main.inputs[0]].shape:
        return _UNKNOWN
    softmax = softmax_of(island, main, stored)
    if isinstance(softmax, str):
        return softmax
    inputs = (stored.value, masked)
    return (*before, replace(softmax, op="QMaskedSoftmax", inputs=inputs, origin=origins(mask, softmax)))


_Found = tuple[QuantisedSource, str, tuple[Node, ...]]  # what is masked, the mask, and nodes that make it


def _added(island: Island, mask: Node, work: Work) -> _Found | str:
    """A constant of zeros and very low numbers."""
    for value, name in (mask.inputs, mask.inputs[::-1]):
        numbers, stored = constant_of(island.view, name), island.stored(value)
        if numbers is None or isinstance(stored, str):
            continue
        low, high = _ends(stored)
        if np.all((numbers == 0) | (numbers + high <= low - _NOTHING)):
            return _constant(island, mask, work, stored, numbers != 0)
    return _UNKNOWN


def _selected(island: Island, mask: Node, work: Work) -> _Found | str:
    """Very low numbers, where a constant condition says so; or -infinity, where any does."""
    condition, *sides = mask.inputs
    for masks_where, (name, value) in ((True, sides), (False, sides[::-1])):
        numbers, stored = constant_of(island.view, name), island.stored(value)
        if (
            numbers is None
            or numbers.size != 1
            or isinstance(stored, str)
            or numbers.max() > _ends(stored)[0] - _NOTHING
        ):
            continue
        known = island.graph.constants.get(condition)
        if known is not None:
            return _constant(island, mask, work, stored, known.astype(bool) == masks_where)
        if numbers.max() > -math.inf:
            return _UNKNOWN
        if masks_where:
            return stored, condition, ()
        other = work.draft.value(DType.BOOL, island.graph.tensors[condition].shape, f"{condition}_not")
        turned = work.draft.node_name(f"{mask.name}_not")
        node = Node(name=turned, op="Not", inputs=(condition,), outputs=(other,), origin=origins(mask))
        return stored, other, (node,)
    return _UNKNOWN


def _constant(
    island: Island, mask: Node, work: Work, stored: QuantisedSource, masked: npt.NDArray[np.bool_]
) -> _Found | str:
    """Rows of which nothing is left are not what a mask means: their numbers would count."""
    shape = island.graph.tensors[mask.outputs[0]].shape
    axis = next(node.integer("axis", -1) for node in island.view.consumers[mask.outputs[0]] if node.op == "Softmax")
    if np.any(np.broadcast_to(masked, shape).all(axis=axis)):
        return _UNKNOWN
    return stored, work.draft.constant(masked.astype(np.uint8), f"{mask.outputs[0]}_masked"), ()


def _ends(stored: QuantisedSource) -> tuple[float, float]:
    """The smallest and the largest value."""
    ends = stored.affine.dequantise(np.array(stored.affine.dtype.limits, stored.affine.dtype.numpy))
    return float(ends.min()), float(ends.max())
