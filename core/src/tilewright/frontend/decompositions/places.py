"""Knows operators about places that the program computes: ReverseSequence, TensorScatter, AffineGrid; and Det.
Does not know how elements are moved (`Gather`, `Scatter`) or read between places (`GridSample`).

Source: the definitions in ONNX's operator documentation; versions are those that changed a signature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room
from tilewright.ir.tensors.dtypes import DType

_MOST_ROWS = 3  # of a determinant that is written out


def _wide(node: OnnxNode, graph: Conversion, index: int, shape: tuple[int, ...]) -> str:
    """Input `index`, integers, as i64 of another shape."""
    name = node.inputs[index]
    if graph.tensor(name).dtype not in (DType.I32, DType.I64) or graph.tensor(name).elements != math.prod(shape):
        raise graph.refuse(node, f"input {index} must hold {math.prod(shape)} integers of 32 or 64 bits")
    if graph.tensor(name).dtype is DType.I32:
        name = graph.emit(node, "Cast", (name,), (), {"to": "i64"}, "wide")
    return graph.emit(node, "Reshape", (name,), (), {"shape": shape}, "along")


def _reverse_sequence(node: OnnxNode, graph: Conversion) -> None:
    """Step t of a sequence of n comes from step n - 1 - t, and from t itself where that is past the end."""
    shape = graph.tensor(node.inputs[0]).shape
    time, batch = node.integer("time_axis"), node.integer("batch_axis", 1)
    if len(shape) < 2 or {time, batch} != {0, 1}:
        raise graph.refuse(node, f"time_axis is {time}, batch_axis {batch}; one must be 0, the other 1")
    need_room(node, graph, shape[0] * shape[1])
    steps, sequences = np.indices(shape[:2])[[time, batch]]
    along = (1, shape[1]) if batch == 1 else (shape[0], 1)
    lengths = _wide(node, graph, 1, along)
    t = graph.add_constant(steps, "steps")
    last = graph.add_constant(steps + 1, "mirrored")
    turned = graph.emit(node, "Sub", (lengths, last), hint="turned")
    inside = graph.emit(node, "Less", (t, lengths), hint="inside")
    source = graph.emit(node, "Where", (inside, turned, t), hint="source")
    if time == 0:
        width = graph.add_constant(np.full(1, shape[1], np.int64), "width")
        source = graph.emit(node, "Mul", (source, width), hint="rows")
        other = sequences
    else:
        other = sequences * shape[1]
    places = graph.emit(node, "Add", (source, graph.add_constant(other, "starts")), hint="places")
    joined = graph.emit(node, "Reshape", node.inputs[:1], (), {"shape": (shape[0] * shape[1], *shape[2:])}, "joined")
    moved = graph.emit(node, "Gather", (joined, places), (), {"axis": 0}, "moved")
    graph.rename(node, moved)


def _tensor_scatter(node: OnnxNode, graph: Conversion) -> None:
    """Steps of `update` into a cache, from each sequence's own place on; none outside it, or around its end."""
    cache, update = (graph.tensor(name).shape for name in node.inputs[:2])
    axis = node.integer("axis", -2)
    if not -len(cache) <= axis < len(cache) or axis % len(cache) == 0 or len(update) != len(cache):
        raise graph.refuse(node, f"axis {axis} is no axis of sequences of {list(cache)}")
    axis %= len(cache)
    if (*update[:axis], *update[axis + 1 :]) != (*cache[:axis], *cache[axis + 1 :]) or update[axis] > cache[axis]:
        raise graph.refuse(node, f"an update {list(update)} does not fit the cache {list(cache)}")
    lead, extent, size = cache[:axis], cache[axis], math.prod(cache[axis + 1 :])
    need_room(node, graph, math.prod(lead) + extent)
    own = (cache[0], *(1,) * axis)
    steps = graph.add_constant(np.arange(update[axis]), "steps")
    at = steps
    if len(node.inputs) > 2 and node.inputs[2]:
        at = graph.emit(node, "Add", (_wide(node, graph, 2, own), steps), hint="at")
    whole = graph.add_constant(np.full(1, extent, np.int64), "extent")
    if node.text("mode", "linear") == "circular":
        at = graph.emit(node, "Mod", (at, whole), (), {"fmod": 0}, "around")
    starts = np.arange(math.prod(lead)).reshape(*lead, 1) * (extent * size)
    stride = graph.add_constant(np.full(1, size, np.int64), "stride")
    scaled = graph.emit(node, "Mul", (at, stride), hint="scaled")
    places = graph.emit(node, "Add", (graph.add_constant(starts, "starts"), scaled), hint="places")
    fits = [
        graph.emit(node, op, (at, graph.add_constant(np.full(1, limit, np.int64), "limit")), hint=f"fits_{op}")
        for op, limit in (("GreaterOrEqual", 0), ("Less", extent))
    ]
    inside = graph.emit(node, "And", fits, hint="inside")
    nowhere = graph.add_constant(np.full(1, -1, np.int64), "nowhere")
    chosen = graph.emit(node, "Where", (inside, places, nowhere), hint="chosen")
    count = math.prod(lead) * update[axis]
    flat = graph.emit(node, "Reshape", (chosen,), (), {"shape": (count,)}, "flat")
    put: dict[str, Attribute] = {"reduction": "none", "slice": size}
    graph.emit(node, "Scatter", (node.inputs[0], flat, node.inputs[1]), node.outputs, put)


def _affine_grid(node: OnnxNode, graph: Conversion) -> None:
    """Every position of an image as (x, y, 1), times the matrix of each image. ONNX's own body fails for one image."""
    theta, size = graph.tensor(node.inputs[0]), [int(extent) for extent in graph.need_constant(node, 1).reshape(-1)]
    rank = len(size) - 2
    if theta.dtype is not DType.F32 or rank not in (2, 3) or min(size) < 1 or theta.shape != (size[0], rank, rank + 1):
        raise graph.refuse(node, f"theta is {theta.dtype.value}{list(theta.shape)}, size {size}")
    need_room(node, graph, math.prod(size[2:]) * (rank + 1))
    axes = [_coordinates(extent, align=bool(node.integer("align_corners"))) for extent in size[2:]]
    grid = np.meshgrid(*axes, indexing="ij")
    positions = np.stack([*reversed(grid), np.ones_like(grid[0])], axis=-1).reshape(-1, rank + 1)
    turned = graph.emit(node, "Transpose", node.inputs[:1], (), {"perm": (0, 2, 1)}, "turned")
    known = graph.add_constant(positions.astype(np.float32), "positions")
    product = graph.apply(node, "MatMul", 13, (known, turned), hint="product")
    graph.emit(node, "Reshape", (product,), node.outputs, {"shape": (size[0], *size[2:], rank)})


def _coordinates(extent: int, *, align: bool) -> npt.NDArray[np.float64]:
    """Of elements along an axis from -1 to 1: of their middles, or with `align` from first to last."""
    if align:
        return np.linspace(-1, 1, extent) if extent > 1 else np.zeros(1)
    return (2 * np.arange(extent) + 1) / extent - 1


def _det(node: OnnxNode, graph: Conversion) -> None:
    """Products of one element of each row and column, added or subtracted by the order of the columns."""
    x = graph.tensor(node.inputs[0])
    rows = x.shape[-1] if x.shape else 0
    if x.dtype is not DType.F32 or len(x.shape) < 2 or x.shape[-2] != rows or not 1 <= rows <= _MOST_ROWS:
        raise graph.refuse(
            node, f"X is {x.dtype.value}{list(x.shape)}; f32 matrices of up to {_MOST_ROWS} rows are taken"
        )
    lead = x.shape[:-2]
    total = ""
    for columns in permutations(range(rows)):
        factors = [_entry(node, graph, row, column) for row, column in enumerate(columns)]
        term = factors[0]
        for factor in factors[1:]:
            term = graph.emit(node, "Mul", (term, factor), hint="product")
        total = graph.emit(node, "Sub" if _is_odd(columns) else "Add", (total, term), hint="sum") if total else term
    graph.emit(node, "Reshape", (total,), node.outputs, {"shape": lead})


def _entry(node: OnnxNode, graph: Conversion, row: int, column: int) -> str:
    shape = graph.tensor(node.inputs[0]).shape
    lead = len(shape) - 2
    cut: dict[str, Attribute] = {
        "starts": (*(0,) * lead, row, column),
        "steps": (1,) * len(shape),
        "shape": (*shape[:-2], 1, 1),
    }
    return graph.emit(node, "Slice", node.inputs[:1], (), cut, f"entry_{row}_{column}")


def _is_odd(order: Sequence[int]) -> bool:
    """Whether an odd number of exchanges makes the order."""
    return sum(before > after for at, after in enumerate(order) for before in order[:at]) % 2 == 1


_SEQUENCES = {"batch_axis": "INT", "time_axis": "INT"}

IMPORTS = (
    Import(
        op_type="ReverseSequence",
        since=10,
        attributes=_SEQUENCES,
        convert=_reverse_sequence,
        min_inputs=2,
        max_inputs=2,
    ),
    Import(
        op_type="TensorScatter",
        since=24,
        attributes={"axis": "INT", "mode": "STRING"},
        convert=_tensor_scatter,
        min_inputs=2,
        max_inputs=3,
    ),
    Import(
        op_type="AffineGrid",
        since=20,
        attributes={"align_corners": "INT"},
        convert=_affine_grid,
        min_inputs=2,
        max_inputs=2,
    ),
    Import(op_type="Det", since=11, attributes={}, convert=_det),
)
