"""Knows convolutions, pools and resizes: images with channels last, which ONNX has first. The changes of axes around
each fold away where kernels take channels last. Does not know how numbers are stored.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.api import ceil_div
from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import BYTES, Operator, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.operators.elementwise import activated
from tilewright_tflite.operators.products import bias

_SAME = 0


def image(net: Network, op: Operator, index: int = 0) -> Tensor:
    """An input that is an image."""
    tensor = net.input(op, index)
    if len(tensor.shape) != 4 or 0 in tensor.shape:
        raise RefusedError(f"its input '{tensor.name}' is {tensor.described}, and no image of four axes")
    return tensor


def _padding(kind: int, extents: Sequence[int], window: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Rows and columns that are added before and behind, as ONNX lists them. `window` is dilated already."""
    if any(stride < 1 for stride in strides):
        raise RefusedError(f"its strides are {list(strides)}")
    if kind != _SAME:
        return [0, 0, 0, 0]
    whole = [
        max((ceil_div(extent, stride) - 1) * stride + size - extent, 0)
        for extent, size, stride in zip(extents, window, strides, strict=True)
    ]
    return [*(each // 2 for each in whole), *(each - each // 2 for each in whole)]


def _conv(op: Operator, net: Network) -> None:
    x, w, depthwise = image(net, op), image(net, op, 1), op.code == "DEPTHWISE_CONV_2D"
    options, channels = op.options, x.shape[3]
    strides = [options.integer(2), options.integer(1)]
    act, dilations = (4, [options.integer(6, 1), options.integer(5, 1)]) if depthwise else (
        3, [options.integer(5, 1), options.integer(4, 1)])  # fmt: skip
    height, width = w.shape[1:3]
    if any(dilation < 1 for dilation in dilations):
        raise RefusedError(f"its dilations are {dilations}")
    groups = channels if depthwise else channels // w.shape[3]
    if w.shape[3] % channels if depthwise else channels % w.shape[3] or w.shape[0] % max(groups, 1):
        raise RefusedError(f"its weights are {w.described}, and its input has {channels:,} channels")
    taps = [(size - 1) * dilation + 1 for size, dilation in zip((height, width), dilations, strict=True)]
    pads = _padding(options.byte(0), x.shape[1:3], taps, strides)
    if options.byte(0) != _SAME and x.index in net.padded:
        x, pads = net.padded[x.index]  # the convolution adds the zeros itself
    inputs = [net.real_first(x)]
    inputs.append(net.weights(w, (3, 0, 1, 2) if depthwise else (0, 3, 1, 2)))
    if net.has(op, 2):
        inputs.append(bias(net, net.input(op, 2), x, w))
    value = net.node(
        "Conv",
        inputs,
        strides=strides,
        dilations=dilations,
        group=groups,
        kernel_shape=[height, width],
        pads=pads,
    )
    net.put_image(net.output(op), activated(net, value, options.byte(act)))


def _transpose_conv(op: Operator, net: Network) -> None:
    """Inputs: the shape of the output, weights [O, H, W, I], the image, and perhaps a bias."""
    w, x, output = image(net, op, 1), image(net, op, 2), net.output(op)
    options = op.options
    strides, window = [options.integer(2), options.integer(1)], list(w.shape[1:3])
    if any(stride < 1 for stride in strides) or len(output.shape) != 4 or w.shape[3] != x.shape[3]:
        raise RefusedError(f"its strides are {strides}, its weights {w.described}, its output {output.described}")
    over = [
        (extent - 1) * stride + size - out
        for extent, stride, size, out in zip(x.shape[1:3], strides, window, output.shape[1:3], strict=True)
    ]
    before = [max(each, 0) // 2 if options.byte(0) == _SAME else 0 for each in over]
    inputs = [net.real_first(x), net.weights(w, (3, 0, 1, 2))]
    if net.has(op, 3):
        inputs.append(bias(net, net.input(op, 3), x, w))
    value = net.node(
        "ConvTranspose",
        inputs,
        strides=strides,
        kernel_shape=window,
        pads=[*before, *(max(each, 0) - first for each, first in zip(over, before, strict=True))],
        output_padding=[max(-each, 0) for each in over],
    )
    net.put_image(output, activated(net, value, options.byte(3)))


def _pool(op: Operator, net: Network) -> None:
    x, output, options = image(net, op), net.output(op), op.options
    strides, window = [options.integer(2), options.integer(1)], [options.integer(4), options.integer(3)]
    if any(size < 1 for size in window):
        raise RefusedError(f"its window is {window}")
    pads = _padding(options.byte(0), x.shape[1:3], window, strides)
    largest, act = op.code == "MAX_POOL_2D", options.byte(5)
    plain = largest and act == 0 and x.same_scale(output) and x.type in BYTES
    value = net.stored_first(x) if plain else net.real_first(x)
    squares, name = op.code == "L2_POOL_2D", "MaxPool" if largest else "AveragePool"
    value = net.node("Mul", (value, value)) if squares else value
    value = net.node(name, (value,), kernel_shape=window, strides=strides, pads=pads)
    value = net.node("Sqrt", (value,)) if squares else value
    if plain:
        net.put_stored_image(output, value)
    else:
        net.put_image(output, activated(net, value, act))


def _resize(op: Operator, net: Network) -> None:
    x, output, linear = image(net, op), net.output(op), op.code == "RESIZE_BILINEAR"
    first = 2 if linear else 0
    corners, centres = op.options.flag(first), op.options.flag(first + 1)
    sizes = net.need_integers(op, 1)
    if len(sizes) != 2 or any(size < 1 for size in sizes):
        raise RefusedError(f"its size is {list(sizes)}")
    mode = "align_corners" if corners else "half_pixel" if centres else "asymmetric"
    if linear:
        shape = net.integers((x.shape[0], x.shape[3], *sizes), "sizes")
        value = net.real_first(x)
        value = net.node("Resize", (value, "", "", shape), mode="linear", coordinate_transformation_mode=mode)
        net.put_image(output, value)
        return
    whole = not corners and all(size % extent == 0 for size, extent in zip(sizes, x.shape[1:3], strict=True))
    if whole:  # every element as often as another
        shape = net.integers((x.shape[0], x.shape[3], *sizes), "sizes")
        value = net.stored_first(x)
        modes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        net.put_stored_image(output, net.node("Resize", (value, "", "", shape), mode="nearest", **modes))
        return
    value = net.stored(x)
    for axis, (extent, size) in enumerate(zip(x.shape[1:3], sizes, strict=True), start=1):
        places = _nearest(extent, size, corners=corners, centres=centres)
        value = net.node("Gather", (value, net.integers(places, "rows")), axis=axis)
    net.put_stored(output, value)


def _nearest(extent: int, size: int, *, corners: bool, centres: bool) -> list[int]:
    """Which element each of `size` is, of `extent`: in float32, as it is defined."""
    if size > 1 << 16:
        raise RefusedError(f"it makes {size:,} rows")
    scale = np.float32((extent - 1) / (size - 1)) if corners and size > 1 else np.float32(extent / size)
    at = (np.arange(size, dtype=np.float32) + np.float32(0.5 if centres else 0)) * scale
    chosen = np.floor(at + np.float32(0.5)) if corners else np.floor(at)
    return [int(each) for each in np.clip(chosen, 0, extent - 1)]


CONVERSIONS: tuple[Conversion, ...] = (
    conversion("CONV_2D", _conv, 1),
    conversion("DEPTHWISE_CONV_2D", _conv, 2),
    conversion("TRANSPOSE_CONV", _transpose_conv, 49),
    conversion("AVERAGE_POOL_2D", _pool, 5),
    conversion("MAX_POOL_2D", _pool, 5),
    conversion("L2_POOL_2D", _pool, 5),
    conversion("RESIZE_BILINEAR", _resize, 15),
    conversion("RESIZE_NEAREST_NEIGHBOR", _resize, 74),
)
