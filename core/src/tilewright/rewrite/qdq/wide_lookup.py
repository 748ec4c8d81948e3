"""Knows how elementwise operators of one quantised tensor become integers where a value has 16 bits: another scale, or
a function between the elements of a table. Does not know tables that have every result (`lookup`).

Clips alone, and LeakyRelu before them, are a QRescale. Anything else of 8 bits is a table of 256 results of 16 bits. Of
16 bits it is known at 513 places, and a straight line between them; half of its error in the middle is taken from its
ends. How far that is from the file's meaning is measured for all 65,536 values; what is too far stays in float.
"""

from __future__ import annotations

import math
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

_FURTHEST = 4  # steps of 65,536: further off, a table is no quantised form of the function


def lower_wide(island: Island, region: Region[float], work: Work) -> Lowered:
    """QRescale(X), or QLookup(X, T)."""
    slope = _slope(region)
    if slope is not None:
        return _rescaled(island, region, slope)
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


def _slope(region: Region[float]) -> float | None:
    """By how much values below zero are multiplied, where Clips and a LeakyRelu before them are all; else None."""
    nodes = region.nodes
    first = nodes[0] if nodes else None
    if first is not None and first.op == "LeakyRelu":
        alpha = first.number("alpha", 0.01)
        return alpha if alpha >= 0 and all(node.op == "Clip" for node in nodes[1:]) else None
    return 1.0 if all(node.op == "Clip" for node in nodes) else None


def _rescaled(island: Island, region: Region[float], slope: float) -> Lowered:
    low, high = -math.inf, math.inf
    for node in region.nodes:
        low, high = _limited(node, low, high)
    attributes = rescaling(region.source.affine, island.output, island.output.limits(low, high), slope)
    return attributes if isinstance(attributes, str) else region.node(island, "QRescale", (), attributes)


def rescaling(x: Affine, y: Affine, limits: tuple[int, int], slope: float = 1.0) -> dict[str, Attribute] | str:
    """The attributes of a QRescale from `x` to `y`, what is below zero multiplied by `slope`; or why there is none."""
    attributes: dict[str, Attribute] = {"x_zero_point": x.zero_point[0], "output_type": y.dtype.value}
    for name, factor in (("requant", 1.0), *((("negative", slope),) if slope != 1 else ())):
        with np.errstate(all="ignore"):
            scale = float(x.scales()[0] * np.float32(factor) / y.scales()[0])
        if not math.isfinite(scale):
            return "the ratio of its scales is not a finite float32"
        stored = StoredScales(x=x.scale[0], w=(factor,), y=y.scale[0])
        attributes[name] = Requant(
            scale=(scale,), zero_point=y.zero_point[0], low=limits[0], high=limits[1], stored=stored
        )
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
