"""Knows products of matrices, and the bias that is added to products of quantised numbers.
Does not know images.
"""

from __future__ import annotations

import numpy as np

from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.operators.elementwise import activated

_WIDE = ("int32", "int64")


def bias(net: Network, tensor: Tensor, x: Tensor, w: Tensor) -> str:
    """A bias as real numbers. Stored as integers it counts in steps of the product of both scales, whatever the file
    says of its own."""
    array = net.known(tensor)
    if array is None or not (x.quantised and w.quantised and tensor.type in _WIDE):
        return net.real(tensor)
    scales = (np.float32(x.scale) * w.scales.astype(np.float32)).astype(np.float32)
    limits = np.iinfo(np.int32)
    if array.size and not (limits.min <= array.min() and array.max() <= limits.max):
        return net.constant((array.astype(np.float64) * scales).astype(np.float32), f"{net.name(tensor)}_real")
    if len(scales) not in (1, array.size):
        raise RefusedError(f"its bias '{tensor.name}' has {array.size:,} elements, its weights {len(scales):,} scales")
    value = net.constant(array.astype(np.int32).reshape(-1), f"{net.name(tensor)}_steps")
    scale = net.constant(scales if len(scales) > 1 else np.array(scales[0]), "bias_scale")
    return net.node("DequantizeLinear", (value, scale), axis=0)


def _fully_connected(op: Operator, net: Network) -> None:
    x, w, output, options = net.input(op, 0), net.input(op, 1), net.output(op), op.options
    if options.byte(1) != 0:
        raise RefusedError("its weights are shuffled")
    if len(w.shape) != 2 or not w.shape[1]:
        raise RefusedError(f"its weights are {w.described}, and no matrix")
    rows, columns = w.shape
    value = net.real(x)
    if len(x.shape) != 2 or x.shape[1] != columns:
        value = net.reshaped(value, (-1, columns))
    if w.constant:
        inputs = [value, net.weights(w, (0, 1))]
        inputs += [bias(net, net.input(op, 2), x, w)] if net.has(op, 2) else []
        value = net.node("Gemm", inputs, transB=1)
    else:
        value = net.node("MatMul", (value, net.moved(net.real(w), (1, 0))))
        value = net.node("Add", (value, bias(net, net.input(op, 2), x, w))) if net.has(op, 2) else value
    value = activated(net, value, options.byte(0))
    net.put(output, value if len(output.shape) == 2 else net.reshaped(value, _extents(output, rows)))


def _extents(output: Tensor, rows: int) -> tuple[int, ...]:
    if not output.shape or output.shape[-1] != rows:
        raise RefusedError(f"its output is {output.described}, and its weights have {rows:,} rows")
    return output.shape


def _batch_matmul(op: Operator, net: Network) -> None:
    values = []
    for index in range(2):
        tensor = net.input(op, index)
        if len(tensor.shape) < 2:
            raise RefusedError(f"its input '{tensor.name}' is {tensor.described}, and no matrix")
        value, rank = net.real(tensor), len(tensor.shape)
        turned = net.moved(value, (*range(rank - 2), rank - 1, rank - 2)) if op.options.flag(index) else value
        values.append(turned)
    net.put(net.output(op), net.node("MatMul", values))


CONVERSIONS: tuple[Conversion, ...] = (
    conversion("FULLY_CONNECTED", _fully_connected, 8, newest=14),
    conversion("BATCH_MATMUL", _batch_matmul, 101),
)
