"""Knows how elementwise operators of one quantised tensor, with constants that differ from channel to channel, become a
QAffine: PRelu, a scale or a shift of channels, BatchNormalization between Q and DQ.
Does not know those whose constants are single numbers: they are tables (`lookup`).

What ONNX means is computed for every stored value of every channel, as `lookup` does; for a 64th of those of 16 bits,
between which straight lines cannot be further off. Factors follow from three of them, and each is compared with what
the integers make of it: no more than one step may be off, and that only next to a half.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.operators.quantised.qaffine import AffineRounding, affine
from tilewright.rewrite.edit import GraphView, origins
from tilewright.rewrite.qdq.elementwise import Region, computed, region_before, stored_values
from tilewright.rewrite.qdq.island import Island, Lowered, QuantisedSource, dequantised
from tilewright.rewrite.qdq.weights import Work

if TYPE_CHECKING:
    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

_MOST = 1 << 14  # channels; beyond that a float step takes less flash than the factors
_LARGEST = 2.0**31 - 1
_DEEPEST = 24  # bits of a shift: results are 2**-17 of a step exact
_MOST_WIDE, _DEEPEST_WIDE, _EACH = 1 << 11, 40, 64  # the same of 16 bits, in 64; every so manieth value is compared
_NORMALISED = ("BatchNormalization",)
_NEAR = 2.0**-10  # steps from a half: there, either side will do
_NEAR_WIDE = 2.0**-6  # of 16 bits: the file's own floats have so many roundings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meant:
    """What ONNX means, [values, channels]: the real result in steps, and the stored one; of distances [values, 1]."""

    distances: Integers
    steps: Doubles
    stored: Integers
    zero_point: int
    wide: bool  # values of 16 bits, or results

    def apart(self, fit: _Fit) -> Integers:
        """How far what the integers make of it is off; much, where that is not next to a half."""
        factors = fit.above, fit.addend, fit.below
        limits = {"low": int(self.stored.min()), "high": int(self.stored.max())}
        even_to = self.zero_point if fit.ties else None
        result = affine(self.distances, factors, AffineRounding(shift=fit.shift, even_to=even_to, **limits))
        off: Integers = np.abs(result - self.stored)
        near = np.abs(self.steps - np.floor(self.steps) - 0.5) < (_NEAR_WIDE if self.wide else _NEAR)
        return np.where((off > 1) | ((off == 1) & ~near), 1 << 30, off)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """Constants of a QAffine [channels]."""

    above: Integers
    below: Integers
    addend: Integers
    shift: int
    ties: bool = False
    wide: bool = False  # sums of 64 bits


def _constants(island: Island, work: Work, fit: _Fit, extents: tuple[int, ...]) -> tuple[str, ...]:
    """F, A and, where it differs from F, G."""
    arrays = (fit.above, fit.addend) if np.array_equal(fit.above, fit.below) else (fit.above, fit.addend, fit.below)
    hint = f"{island.quantize.outputs[0]}_affine"
    sums = np.int64 if fit.wide else np.int32
    types = (np.int32, sums, np.int32)
    return tuple(
        work.draft.constant(array.astype(dtype).reshape(extents), hint)
        for array, dtype in zip(arrays, types, strict=False)
    )


def lower_channels(island: Island, work: Work) -> Lowered:
    """QAffine(X, F, A, G); G only where it differs from F."""
    region = region_before(island, constant_of, _NORMALISED)
    if isinstance(region, str):
        return region
    region = _shaped(region, rank := len(island.graph.tensors[region.source.value].shape))
    extents = np.broadcast_shapes(*(array.shape for array in region.constants.values()), (1,) * rank)
    if math.prod(extents) > (_MOST_WIDE if region.source.affine.wide else _MOST):
        return f"it has no integer form for {math.prod(extents)} constants"
    zero = region.source.affine.zero_point[0]
    meant = _meant(island, region, extents, zero)
    fit = _fitted(meant)
    off = 0 if fit is None else int(meant.apart(fit).sum())
    if fit is None or off > meant.stored.size:
        return "it has no integer form here"
    if off:
        work.diagnostics.append(_note(island, off, meant.stored.size))
    held = _constants(island, work, fit, extents)
    attributes: dict[str, Attribute] = {
        "x_zero_point": zero,
        "shift": fit.shift,
        "ties": int(fit.ties),
        "zero_point": meant.zero_point,
        "low": int(meant.stored.min()),
        "high": int(meant.stored.max()),
        "output_type": island.output.dtype.value,
    }
    alone = all(island.view.read_once(node.outputs[0]) for node in region.nodes)
    return Node(
        name=region.nodes[-1].name if alone else island.quantize.name,
        op="QAffine",
        inputs=(region.source.value, *held),
        outputs=island.quantize.outputs,
        attributes=attributes,
        origin=origins(region.source.node, *region.nodes, island.quantize),
    )


def constant_of(view: GraphView, value: str) -> Doubles | None:
    """A real constant, dequantised or float, reshaped or not; None for anything else, and for one too large."""
    producer = view.producer.get(value)
    if producer is not None and producer.op == "Reshape":
        before = constant_of(view, producer.inputs[0])
        return None if before is None else before.reshape(view.graph.tensors[value].shape)
    array = view.graph.constants.get(value)
    if array is None:
        stored = dequantised(view, value)
        if isinstance(stored, str) or stored.value not in view.graph.constants:
            return None
        array = stored.affine.dequantise(view.graph.constants[stored.value])
    return array.astype(np.float64) if array.dtype == np.float32 and array.size <= _MOST else None


def _shaped(region: Region[Doubles], rank: int) -> Region[Doubles]:
    """Numbers of a BatchNormalization as it broadcasts them: along the second axis."""
    names = {name for node in region.nodes if node.op in _NORMALISED for name in node.inputs[1:]}
    along = (-1, *(1,) * (rank - 2))
    constants = {name: array.reshape(along) if name in names else array for name, array in region.constants.items()}
    return replace(region, constants=constants)


def _compared(source: QuantisedSource) -> npt.NDArray[np.generic]:
    """The stored values that are looked at: both ends and 0 among them."""
    every = stored_values(source)
    if not source.affine.wide:
        return every
    zero = source.affine.zero_point[0] - int(every[0])
    places = np.unique(np.r_[np.arange(0, len(every), _EACH), zero - 1 : zero + 2, len(every) - 1])
    looked_at: npt.NDArray[np.generic] = every[places[(places >= 0) & (places < len(every))]]
    return looked_at


def _meant(island: Island, region: Region[Doubles], extents: tuple[int, ...], zero: int) -> _Meant:
    """Of every value compared, for every channel: the real result without its clips, and the stored one with them."""
    values_compared = _compared(region.source)
    count, distances = len(values_compared), values_compared.astype(np.int64) - zero
    source = region.source.affine.dequantise(values_compared).astype(np.float64)
    start = np.broadcast_to(source.reshape(-1, *(1,) * len(extents)), (count, *extents))
    free: dict[str, Doubles] = {}
    clipped: dict[str, Doubles] = {}
    with np.errstate(all="ignore"):
        for node in region.nodes:
            for values, clips in ((free, False), (clipped, True)):
                arguments = [values.get(name, region.constants.get(name, start)) for name in node.inputs]
                values[node.outputs[0]] = _of_channels(node, arguments, clips=clips)
        real, limited = (values.get(island.quantize.inputs[0], start) for values in (free, clipped))
        steps = real / float(island.output.scales()[0]) + island.output.zero_point[0]
        stored = island.output.quantise(limited.astype(np.float32)).astype(np.int64)
    return _Meant(
        distances=distances.reshape(-1, 1),
        steps=np.broadcast_to(steps, start.shape).reshape(count, -1),
        stored=np.broadcast_to(stored, start.shape).reshape(count, -1),
        zero_point=island.output.zero_point[0],
        wide=region.source.affine.wide or island.output.wide,
    )


def _of_channels(node: Node, arguments: list[Doubles], *, clips: bool) -> Doubles:
    if node.op in _NORMALISED:
        x, scale, shift, mean, variance = arguments
        result = (x - mean) / np.sqrt(variance + float(np.float32(node.number("epsilon", 1e-5)))) * scale + shift
        return np.asarray(result)
    if not clips:
        if node.op == "Clip":
            return arguments[0]
        node = replace(node, attributes={**node.attributes, "clip_low": -math.inf, "clip_high": math.inf})
    return computed(node, arguments)


def _fitted(meant: _Meant) -> _Fit | None:
    """Factors below and from 0 on, from the results of the lowest value, of 0 and of the highest."""
    steps, first, last = meant.steps, -int(meant.distances.min()), int(meant.distances.max())
    if not np.all(np.isfinite(steps)):
        return None
    middle = steps[int(np.searchsorted(meant.distances[:, 0], 0))]
    above = (steps[-1] - middle) / last if last else (middle - steps[0]) / first
    below = (middle - steps[0]) / first if first else above
    if np.allclose(above, below, rtol=1e-9, atol=0):
        above = below = (steps[-1] - steps[0]) / (first + last)
    slope = np.maximum(np.abs(above), np.abs(below))
    reach = float(np.max(slope * max(first, last) + np.abs(middle) + 2))
    if meant.wide:
        steepest = max(float(slope.max(initial=0)), 2.0**-30)
        shift = min(_DEEPEST_WIDE, math.floor(math.log2(_LARGEST / steepest)), math.floor(math.log2(2.0**61 / reach)))
    else:
        shift = min(_DEEPEST, math.floor(math.log2(_LARGEST / reach)))
    if shift < 1:
        return None
    unit = 2.0**shift
    fit = _Fit(
        above=np.rint(above * unit).astype(np.int64),
        below=np.rint(below * unit).astype(np.int64),
        addend=np.rint((middle + 0.5) * unit).astype(np.int64),
        shift=shift,
        wide=meant.wide,
    )
    return _nudged(meant, fit)


def _nudged(meant: _Meant, fit: _Fit) -> _Fit:
    """Halves, and what is next to one, go up or down, as most of a channel do; or to even, where that is better."""
    little = 2 ** max(fit.shift - 17, 0)
    nudges = np.array((0, -1, little, -little))
    counts = np.stack([meant.apart(replace(fit, addend=fit.addend + nudge)).sum(axis=0) for nudge in nudges])
    nudged = replace(fit, addend=fit.addend + nudges[counts.argmin(axis=0)])
    even = replace(fit, ties=True)
    return even if meant.apart(even).sum() < counts.min(axis=0).sum() else nudged


def _note(island: Island, off: int, of: int) -> Diagnostic:
    return Diagnostic(
        code="TW3015",
        severity="note",
        message=f"of {of} stored values of all channels, {off} give a result one step off what the file means: halves",
        where=island.quantize.name if island.main is None else island.main.name,
    )
