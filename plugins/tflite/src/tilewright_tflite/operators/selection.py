"""Knows operators that find or change single elements and rows: of a table, the largest ones, at computed places.
Does not know arithmetic.
"""

from __future__ import annotations

import numpy as np

from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.onnx_types import ONNX_TYPES

_PLACES = 1 << 20  # elements of a part that is put where a run says


def _embedding_lookup(op: Operator, net: Network) -> None:
    """Rows of a table; those of integers may become floats."""
    places, table, output = net.input(op, 0), net.input(op, 1), net.output(op)
    rows = net.node("Gather", (net.stored(table), net.stored(places)), axis=0)
    if table.same_scale(output):
        net.put_stored(output, rows)
    elif table.quantised and len(table.scales) == 1 and not output.quantised:
        net.put_stored(output, net.dequantised(table, rows))
    else:
        raise RefusedError(f"it makes {output.described} of {table.described} with other scales, or several")


def _top_k(op: Operator, net: Network) -> None:
    """The largest ones along the last axis, and where they were."""
    x, values, places = net.input(op, 0), net.output(op, 0), net.output(op, 1)
    (count,) = net.need_integers(op, 1)
    if not x.same_scale(values) or values.shape != places.shape:
        raise RefusedError(f"it makes {values.described} and {places.described} of {x.described}")
    names = [net.fresh(f"{op.title}/{name}") for name in ("values", "places")]
    result, where = net.split("TopK", (net.stored(x), net.integers((count,), "k")), names, axis=-1)
    net.put_stored(values, result)
    net.put_stored(places, net.node("Cast", (where,), to=ONNX_TYPES[places.type]))


def _scatter_nd(op: Operator, net: Network) -> None:
    """Zeros, to which updates are added at their places."""
    places, updates, output = net.input(op, 0), net.input(op, 1), net.output(op)
    if updates.type != output.type or updates.quantised:
        raise RefusedError(f"it makes {output.described} of {updates.described}")
    zeros = net.constant(net.filled(output), "zeros")
    where = net.node("Cast", (net.stored(places),), to=ONNX_TYPES["int64"])
    net.put_stored(output, net.node("ScatterND", (zeros, where, net.stored(updates)), reduction="add"))


def _dynamic_update_slice(op: Operator, net: Network) -> None:
    """A tensor in which another one stands from a place on that lets it fit."""
    x, update, start, output = (*(net.input(op, index) for index in range(3)), net.output(op))
    spare = [whole - part for whole, part in zip(x.shape, update.shape, strict=False)]
    if not x.same_scale(update) or not x.same_scale(output) or not _fit(x, update, start, spare):
        raise RefusedError(f"it puts {update.described} into {x.described}")
    limits = [net.integers(ends, name) for name, ends in (("first", [0] * len(spare)), ("last", spare))]
    at = net.node("Cast", (net.stored(start),), to=ONNX_TYPES["int64"])
    at = net.node("Min", (net.node("Max", (at, limits[0])), limits[1]))
    grid = np.moveaxis(np.indices(update.shape, np.int64), 0, -1)
    places = net.node("Add", (net.constant(grid, "places"), at))
    net.put_stored(output, net.node("ScatterND", (net.stored(x), places, net.stored(update))))


def _fit(x: Tensor, update: Tensor, start: Tensor, spare: list[int]) -> bool:
    """Whether a part has as many axes as the whole, none longer, and is not too large to be named one by one."""
    ranks = len(x.shape) == len(update.shape) and start.shape == (len(x.shape),)
    return ranks and min(spare, default=0) >= 0 and int(np.prod(update.shape, dtype=object)) <= _PLACES


CONVERSIONS: tuple[Conversion, ...] = (
    conversion("EMBEDDING_LOOKUP", _embedding_lookup),
    conversion("TOPK_V2", _top_k),
    conversion("SCATTER_ND", _scatter_nd),
    conversion("DYNAMIC_UPDATE_SLICE", _dynamic_update_slice),
)
