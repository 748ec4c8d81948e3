"""Knows how elementwise operators of one quantised tensor become integers where a value has 16 bits: another scale, or
a function between the elements of a table. Does not know tables that have every result (`lookup`).

Clips alone, and LeakyRelu before them, are a QRescale; so is a HardSigmoid of 16 bits, whose addend is rounded to a
step of the result: at most one step off. Anything else of 8 bits is a table of 256 results of 16 bits. Of 16 bits it is
known at 513 places, and a straight line between them; half of its error in the middle is taken from its ends. How far
that is from the file's meaning is measured for all 65,536 values; what is too far stays in float.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.operators.quantised.qlookup import STEP, TABLE_OF_WORDS, interpolated
from tilewright.rewrite.merge.fuse import composed
from tilewright.rewrite.qdq.affine import Affine
from tilewright.rewrite.qdq.elementwise import Region, real_results, results, stored_values
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.weights import Work

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_FARTHEST = 2**20  # steps that an addend may be
_FURTHEST = 4  # steps of 65,536: further off, a table is no quantised form of the function


def lower_wide(island: Island, region: Region[float], work: Work) -> Lowered:
    """QRescale(X), or QLookup(X, T)."""
    line = _line(region)
    if line is not None:
        return _rescaled(island, region, line)
    if not region.source.affine.wide:
        table = results(island, region, stored_values(region.source))
    else:
        table = _between(island, region)
        stored = stored_values(region.source)
        places = np.arange(stored.size)
        apart = np.abs(interpolated(table, places) - results(island, region, stored).astype(np.int64))
        if apart.max() > _FURTHEST:
            return f"a line between 513 places is {apart.max()} steps off its function, more than {_FURTHEST}"
        work.diagnostics.append(_told(region, int(apart.max()), float((apart > 0).mean())))
    name = work.draft.constant(table, f"{island.quantize.outputs[0]}_table")
    return region.node(island, "QLookup", (name,), {})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What is multiplied, what of it that is below zero once more, and what is added; limits of the result."""

    factor: float = 1.0
    below: float = 1.0
    addend: float = 0.0
    low: float = -math.inf
    high: float = math.inf


def _line(region: Region[float]) -> _Line | None:
    """Of Clips alone, or of a LeakyRelu or a HardSigmoid before them; None of other functions."""
    first, *behind = region.nodes or (None,)
    if any(node is not None and node.op != "Clip" for node in behind):
        return None
    if first is None or first.op == "Clip":
        return _Line()
    if first.op == "LeakyRelu":
        alpha = first.number("alpha", 0.01)
        return _Line(below=alpha) if alpha >= 0 else None
    if first.op == "HardSigmoid" and region.source.affine.wide:
        alpha = first.number("alpha", 0.2)
        return _Line(factor=alpha, addend=first.number("beta", 0.5), low=0, high=1) if alpha > 0 else None
    return None


def _rescaled(island: Island, region: Region[float], line: _Line) -> Lowered:
    low, high = line.low, line.high
    for node in region.nodes:
        low, high = _limited(node, low, high)
    limits = island.output.limits(low, high)
    attributes = rescaling(region.source.affine, island.output, limits, line.below, line.factor, line.addend)
    return attributes if isinstance(attributes, str) else region.node(island, "QRescale", (), attributes)


def rescaling(
    x: Affine, y: Affine, limits: tuple[int, int], below: float = 1.0, factor: float = 1.0, addend: float = 0.0
) -> dict[str, Attribute] | str:
    """The attributes of a QRescale from `x` to `y`: multiplied by `factor`, what is below zero by `below` too, and
    `addend` added; or why there is none.
    """
    attributes: dict[str, Attribute] = {"x_zero_point": x.zero_point[0], "output_type": y.dtype.value}
    with np.errstate(all="ignore"):
        moved = float(np.float64(addend) / y.scales()[0])
    if not abs(moved) < _FARTHEST:
        return "its scales are not finite, or too far from what it adds"
    zero = y.zero_point[0] + round(moved)
    for name, by in (("requant", factor), *((("negative", factor * below),) if below != 1 else ())):
        with np.errstate(all="ignore"):
            scale = float(x.scales()[0] * np.float32(by) / y.scales()[0])
        if not math.isfinite(scale):
            return "the ratio of its scales is not a finite float32"
        stored = StoredScales(x=x.scale[0], w=(by,), y=y.scale[0])
        attributes[name] = Requant(scale=(scale,), zero_point=zero, low=limits[0], high=limits[1], stored=stored)
    return attributes


def _limited(node: Node, low: float, high: float) -> tuple[float, float]:
    """The limits behind a Clip, or behind the clip that is fused into another operator."""
    if node.op == "Clip":
        return composed(node, low, high)
    return max(low, node.number("clip_low", low)), min(high, node.number("clip_high", high))


def _between(island: Island, region: Region[float]) -> Array:
    """The elements of a table: half of what the line is off in the middle is taken from where it begins."""
    x, y = region.source.affine, island.output
    places = x.dtype.limits[0] + STEP // 2 * np.arange(2 * TABLE_OF_WORDS - 1, dtype=np.int64)
    at = real_results(island, region, places) / y.scale[0] + y.zero_point[0]
    ends = np.nan_to_num(at[::2], nan=y.zero_point[0], posinf=2.0**30, neginf=-(2.0**30))
    middles = np.nan_to_num(at[1::2], nan=y.zero_point[0], posinf=2.0**30, neginf=-(2.0**30))
    off = (ends[:-1] + ends[1:]) / 2 - middles
    moved = ends - np.concatenate([off, off[-1:]]) / 2
    return np.clip(np.rint(moved), *y.dtype.limits).astype(y.dtype.numpy)


def _told(region: Region[float], most: int, share: float) -> Diagnostic:
    return Diagnostic(
        code="TW3010",
        severity="note",
        message=f"computed between 513 places of 16 bits: at most {most} steps from the file's meaning, "
        f"{share:.0%} of the values differ",
        where=", ".join(node.name for node in region.nodes),
    )
