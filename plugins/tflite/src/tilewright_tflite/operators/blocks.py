"""Knows operators that turn blocks of an image into channels or batches, and back, on what is stored.
Does not know other movements.
"""

from __future__ import annotations

from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator
from tilewright_tflite.network import Network
from tilewright_tflite.operators.convolutions import image
from tilewright_tflite.operators.movement import padded, pairs, sliced


def _block(op: Operator, fits: bool) -> None:
    if not fits:
        raise RefusedError("its blocks do not fit its input")


def _space_to_depth(op: Operator, net: Network) -> None:
    x, size = image(net, op), op.options.integer(0)
    n, h, w, c = x.shape
    _block(op, size > 0 and h % size == 0 and w % size == 0)
    value = net.reshaped(net.stored(x), (n, h // size, size, w // size, size, c))
    net.put_stored(net.output(op), net.reshaped(net.moved(value, (0, 1, 3, 2, 4, 5)), net.output(op).shape))


def _depth_to_space(op: Operator, net: Network) -> None:
    x, size = image(net, op), op.options.integer(0)
    n, h, w, c = x.shape
    _block(op, size > 0 and c % (size * size) == 0)
    value = net.reshaped(net.stored(x), (n, h, w, size, size, c // (size * size)))
    net.put_stored(net.output(op), net.reshaped(net.moved(value, (0, 1, 3, 2, 4, 5)), net.output(op).shape))


def _space_to_batch(op: Operator, net: Network) -> None:
    x, sizes = image(net, op), net.need_integers(op, 1)
    if len(sizes) != 2:
        raise RefusedError(f"its blocks have {len(sizes)} axes, and only 2 are taken")
    amounts = pairs(op, net, 2, 2)
    n, c = x.shape[0], x.shape[3]
    h, w = (extent + before + behind for extent, (before, behind) in zip(x.shape[1:3], amounts, strict=True))
    _block(op, all(size > 0 and extent % size == 0 for size, extent in zip(sizes, (h, w), strict=True)))
    value = net.stored(x)
    if any(before or behind for before, behind in amounts):
        value = padded(net, x, value, ((0, 0), *amounts, (0, 0)))
    value = net.reshaped(value, (n, h // sizes[0], sizes[0], w // sizes[1], sizes[1], c))
    net.put_stored(net.output(op), net.reshaped(net.moved(value, (2, 4, 0, 1, 3, 5)), net.output(op).shape))


def _batch_to_space(op: Operator, net: Network) -> None:
    x, sizes = image(net, op), net.need_integers(op, 1)
    if len(sizes) != 2:
        raise RefusedError(f"its blocks have {len(sizes)} axes, and only 2 are taken")
    n, h, w, c = x.shape
    _block(op, all(size > 0 for size in sizes) and n % (sizes[0] * sizes[1]) == 0)
    batch = n // (sizes[0] * sizes[1])
    value = net.reshaped(net.stored(x), (*sizes, batch, h, w, c))
    extents = (h * sizes[0], w * sizes[1])
    value = net.reshaped(net.moved(value, (2, 3, 0, 4, 1, 5)), (batch, *extents, c))
    cuts = pairs(op, net, 2, 2)
    if any(before or behind for before, behind in cuts):
        ends = [extent - behind for extent, (_, behind) in zip(extents, cuts, strict=True)]
        value = sliced(net, value, (0, *(before for before, _ in cuts)), (batch, *ends))
    net.put_stored(net.output(op), value)


CONVERSIONS: tuple[Conversion, ...] = (
    conversion("SPACE_TO_DEPTH", _space_to_depth, 19),
    conversion("DEPTH_TO_SPACE", _depth_to_space, 94),
    conversion("SPACE_TO_BATCH_ND", _space_to_batch),
    conversion("BATCH_TO_SPACE_ND", _batch_to_space),
)
