"""The collection of layers that estimates are fitted to and judged by: `python benchmarks/estimates.py` counts them.

Drawn, the same for the same seed; none is taken from a network. Every operator of the vocabulary is among them, those
that networks spend their time in with many shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import cortex_m_layers as integers
import float_layers as floats
import numpy as np
from cortex_m_layers import Layer

from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.integer_recurrences import integer_recurrence
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import every_layer, recurrent_layer
from tilewright.testing.operator_sites import site_of

Draw = Callable[[np.random.Generator], Layer]
MOST_WORK, MOST_DEEP = 250_000, 1_000_000  # multiply-accumulates, or elements, of a layer


def collection(seed: int = 0) -> tuple[Layer, ...]:
    """About 370 layers, each with a name of its own."""
    layers: dict[str, Layer] = {}
    for family, (draw, count) in FAMILIES.items():
        rng = np.random.default_rng([seed, *family.encode()])
        drawn = 0
        while drawn < count:
            layer = draw(rng)
            if layer.work <= (MOST_DEEP if family.endswith("deep") else MOST_WORK):
                name = f"{family} {drawn}: {layer.name}"
                layers[name], drawn = replace(layer, name=name), drawn + 1
    for one in every_other(seed):
        layers.setdefault(one.name, one)
    return tuple(layers.values())


def every_other(seed: int) -> Iterator[Layer]:
    """One layer or more of every operator."""
    for sample in every_layer(seed):
        site = site_of(vocabulary()[sample.op], sample.inputs, sample.attributes, sample.constants)
        work = vocabulary()[sample.op].macs(site) or site.output.elements
        yield Layer(name=f"any: {sample.name}", site=site, inputs=sample.inputs, work=work)


def _one(rng: np.random.Generator, values: Sequence[int]) -> int:
    return int(rng.choice(np.asarray(values)))


def _window(rng: np.random.Generator) -> tuple[int, int]:
    size = _one(rng, (1, 1, 2, 3, 3, 3, 5))
    return [(size, size), (1, _one(rng, (3, 5, 9)))][int(rng.random() < 0.15)]


def _qconv(rng: np.random.Generator) -> Layer:
    inside, outside = _one(rng, (1, 3, 4, 8, 13, 16, 24, 32, 48, 64, 96)), _one(rng, (2, 6, 8, 16, 19, 24, 32, 48, 64))
    kernel, size, stride = _window(rng), int(rng.integers(5, 29)), _one(rng, (1, 1, 1, 2))
    name = f"{kernel[0]}x{kernel[1]} {inside}-{outside} at {size} by {stride}"
    layer = integers.conv(name, inside, outside, kernel, size, stride=stride)
    return _padded(rng, layer)


def _qconv_deep(rng: np.random.Generator) -> Layer:
    """As the later layers of networks are: many channels, few pixels."""
    inside, outside, size = _one(rng, (24, 32, 48, 64)), _one(rng, (24, 32, 48, 64)), int(rng.integers(3, 9))
    name = f"3x3 {inside}-{outside} at {size}"
    return _padded(rng, integers.conv(name, inside, outside, (3, 3), size))


def _qconv_tall(rng: np.random.Generator) -> Layer:
    """As first layers over spectra and signals are."""
    kernel = ((10, 4), (5, 1), (8, 8), (4, 3))[int(rng.integers(4))]
    inside, outside, size = _one(rng, (1, 1, 2)), _one(rng, (8, 16, 64)), int(rng.integers(9, 25))
    name = f"{kernel[0]}x{kernel[1]} {inside}-{outside} at {size}"
    return _padded(rng, integers.conv(name, inside, outside, kernel, size, stride=_one(rng, (1, 2))))


def _conv_deep(rng: np.random.Generator) -> Layer:
    inside, outside = _one(rng, (16, 32, 48)), _one(rng, (16, 32, 48))
    return floats.conv(inside, outside, int(rng.integers(3, 7)))


def _padded(rng: np.random.Generator, layer: Layer) -> Layer:
    """Zero points are mostly folded into the bias before binding: then padding reads what stood for zero."""
    node = layer.site.node
    zero = int(rng.integers(-128, 128))
    drawn = rng.random()
    chosen = {**node.attributes, "x_zero_point": zero if drawn < 0.2 else 0}
    chosen["pad_value"] = chosen["x_zero_point"] if 0.1 < drawn < 0.5 else -121 if drawn < 0.1 else zero
    return replace(layer, site=replace(layer.site, node=replace(node, attributes=chosen)))


def _qconv_depthwise(rng: np.random.Generator) -> Layer:
    channels, size, stride = _one(rng, (3, 8, 13, 16, 24, 32, 64)), int(rng.integers(5, 29)), _one(rng, (1, 1, 2))
    kernel = _one(rng, (3, 3, 3, 5, 7))
    name = f"{kernel}x{kernel} {channels} at {size} by {stride}"
    layer = integers.conv(name, channels, channels, (kernel,) * 2, size, stride=stride, group=channels)
    return _padded(rng, layer)


def _qconv_grouped(rng: np.random.Generator) -> Layer:
    groups, each, outs = _one(rng, (2, 4, 8)), _one(rng, (2, 4, 8)), _one(rng, (1, 2, 4, 6, 8))
    size, dilation = int(rng.integers(5, 20)), _one(rng, (1, 1, 2))
    name = f"3x3 {groups}x{each}-{outs} at {size} apart {dilation}"
    more = {"group": groups, "dilation": dilation}
    return _padded(rng, integers.conv(name, groups * each, groups * outs, (3, 3), size, **more))


def _qgemm(rng: np.random.Generator) -> Layer:
    return integers.gemm(_one(rng, (1, 1, 1, 4, 10)), int(rng.integers(8, 700)), int(rng.integers(2, 180)))


def _narrow_blocks(rng: np.random.Generator) -> Layer:
    """Weights of 4 or 2 bits with a scale for each block, and for every second layer a zero point."""
    rows, size, bits = _one(rng, (1, 1, 4)), _one(rng, (16, 32, 64)), _one(rng, (4, 4, 2))
    depth, columns = int(rng.integers(20, 400)), int(rng.integers(3, 90))
    shape, most = (columns, -(-depth // size)), 1 << (bits - 1)
    drawn = [rng.integers(-most, most, each).astype(np.int8) for each in ((columns, depth), shape)]
    inputs = [floats.real(rows, depth), drawn[0], np.abs(floats.real(*shape)) + np.float32(0.1)]
    inputs += [drawn[1]] if rng.random() < 0.5 else []
    attributes = {"weight_bits": bits, "block_size": size}
    constants = tuple(range(1, len(inputs)))
    return integers.layer(f"{rows}x{depth}x{columns} by {size}", "MatMulNBits", inputs, attributes, constants)


def _qmatmul(rng: np.random.Generator) -> Layer:
    return integers.matmul(_one(rng, (1, 2, 4)), *(int(rng.integers(4, 48)) for _ in range(3)))


def _pool(op: str) -> Draw:
    def draw(rng: np.random.Generator) -> Layer:
        kernel, channels = _one(rng, (2, 2, 3, 3, 5, 7)), _one(rng, (3, 8, 13, 16, 32, 48, 64))
        stride, pad = _one(rng, (1, 2, kernel)), _one(rng, (0, 0, 1))
        return integers.pool(op, channels, int(rng.integers(7, 25)), kernel, stride, pad)

    return draw


def _global_pool(rng: np.random.Generator) -> Layer:
    size = int(rng.integers(4, 13))
    return integers.pool("QAveragePool", _one(rng, (8, 16, 31, 64, 128)), size, size, size, 0)


def _qmean(rng: np.random.Generator) -> Layer:
    return integers.mean((1, _one(rng, (8, 31, 64)), int(rng.integers(3, 12)), int(rng.integers(3, 12))), (2, 3))


def _pair(op: str) -> Draw:
    def draw(rng: np.random.Generator) -> Layer:
        shape = (1, *(int(rng.integers(4, 25)) for _ in range(3)))
        other = (shape, shape, shape, (1, shape[1], 1, 1), (1, 1, 1, 1))[int(rng.integers(5))]
        return integers.pair(op, shape, other) if op.startswith("Q") else floats.pair(op, shape, other)

    return draw


def _qlookup(rng: np.random.Generator) -> Layer:
    return integers.lookup((1, int(rng.integers(3, 40)), int(rng.integers(3, 25)), int(rng.integers(3, 25))))


def _qsoftmax(rng: np.random.Generator) -> Layer:
    return integers.softmax((int(rng.integers(1, 20)), int(rng.integers(3, 200))))


def _quantise(rng: np.random.Generator) -> Layer:
    shape = tuple(int(rng.integers(5, 25)) for _ in range(3))
    inputs = [floats.real(*shape), np.asarray(0.03, np.float32), np.asarray(3, np.int8)]
    return integers.layer(f"{list(shape)}", "QuantizeLinear", inputs, {"axis": 1, "to": "i8"}, (1, 2))


def _dequantise(rng: np.random.Generator) -> Layer:
    shape = tuple(int(rng.integers(5, 25)) for _ in range(3))
    inputs = [integers.drawn(shape), np.asarray(0.03, np.float32), np.asarray(3, np.int8)]
    return integers.layer(f"{list(shape)}", "DequantizeLinear", inputs, {"axis": 1}, (1, 2))


def _conv(rng: np.random.Generator) -> Layer:
    inside, outside = _one(rng, (1, 3, 4, 8, 13, 16, 24, 32, 64)), _one(rng, (2, 6, 8, 16, 19, 24, 32, 64))
    size, stride = int(rng.integers(4, 21)), _one(rng, (1, 1, 1, 2))
    return floats.conv(inside, outside, size, kernel=_window(rng), stride=stride)


def _conv_depthwise(rng: np.random.Generator) -> Layer:
    channels, kernel = _one(rng, (3, 8, 13, 16, 32, 64)), _one(rng, (3, 3, 5))
    stride = _one(rng, (1, 1, 2))
    return floats.conv(
        channels, channels, int(rng.integers(4, 21)), kernel=(kernel,) * 2, stride=stride, group=channels
    )


def _conv_grouped(rng: np.random.Generator) -> Layer:
    groups, each = _one(rng, (2, 4, 8)), _one(rng, (1, 2, 4, 8))
    return floats.conv(groups * each, groups * _one(rng, (1, 2, 4, 6)), int(rng.integers(4, 17)), group=groups)


def _gemm(rng: np.random.Generator) -> Layer:
    return floats.gemm(_one(rng, (1, 1, 1, 4, 10)), int(rng.integers(8, 500)), int(rng.integers(2, 120)))


def _matmul(rng: np.random.Generator) -> Layer:
    return floats.matmul(*(int(rng.integers(4, 48)) for _ in range(3)))


def _float_pool(op: str) -> Draw:
    def draw(rng: np.random.Generator) -> Layer:
        return floats.pool(op, _one(rng, (3, 8, 16, 32)), int(rng.integers(8, 25)), _one(rng, (2, 2, 3, 4)))

    return draw


def _clip(rng: np.random.Generator) -> Layer:
    limits: Mapping[str, float] = ({"min": 0.0}, {"min": 0.0, "max": 6.0})[int(rng.integers(2))]
    return floats.one("Clip", (int(rng.integers(4, 40)), int(rng.integers(4, 60))), dict(limits))


def _rows(op: str) -> Draw:
    def draw(rng: np.random.Generator) -> Layer:
        shape = (int(rng.integers(1, 30)), int(rng.integers(3, 100)))
        return floats.norm(*shape) if op == "LayerNormalization" else floats.rows(op, *shape)

    return draw


def _mean(rng: np.random.Generator) -> Layer:
    shape = (int(rng.integers(4, 40)), int(rng.integers(4, 90)))
    attributes = {"axes": (1,), "keepdims": 0}
    return integers.layer(f"mean {list(shape)}", "ReduceMean", [floats.real(*shape)], attributes)


def _batch_norm(rng: np.random.Generator) -> Layer:
    shape = (int(rng.integers(4, 30)), int(rng.integers(4, 20)), int(rng.integers(4, 20)))
    more = [np.abs(floats.real(shape[1])) + np.float32(0.1) for _ in range(4)]
    return integers.layer(f"{list(shape)}", "BatchNormalization", [floats.real(*shape), *more], {}, (1, 2, 3, 4))


def _moved(dtype: DType) -> Draw:
    """Bytes or floats that a Transpose, a Concat, a Pad or a Slice moves."""

    def draw(rng: np.random.Generator) -> Layer:
        shape = tuple(int(rng.integers(4, 24)) for _ in range(3))
        x = integers.drawn(shape) if dtype is DType.I8 else floats.real(*shape)
        kind, axis = int(rng.integers(4)), int(rng.integers(3))
        perm = ((0, 2, 1), (2, 0, 1), (1, 2, 0), (1, 0, 2))[int(rng.integers(4))]
        named: Mapping[str, tuple[list[Any], Mapping[str, Any]]] = {
            "Transpose": ([x], {"perm": perm}),
            "Concat": ([x, x + 1, x], {"axis": axis}),
            "Pad": ([x], {"mode": "constant", "pads": (0, 1, 1, 0, 1, 1), "value": 0}),
            "Slice": ([x], {"starts": (0, 1, 1), "steps": (1, 1, 1), "shape": (shape[0], shape[1] - 2, shape[2] - 1)}),
        }
        op = list(named)[kind]
        inputs, attributes = named[op]
        return integers.layer(f"{op} {list(shape)} {attributes.get('axis', perm)}", op, inputs, dict(attributes))

    return draw


def _recurrent(rng: np.random.Generator) -> Layer:
    kind = ("LSTM", "GRU", "RNN")[int(rng.integers(3))]
    shape = (int(rng.integers(2, 12)), 1, int(rng.integers(4, 48)))
    sample = recurrent_layer(rng, kind, optional=False, shape=shape)
    site = site_of(vocabulary()[sample.op], sample.inputs, sample.attributes, sample.constants)
    work = vocabulary()[sample.op].macs(site)
    return Layer(name=f"{kind} {list(shape)}", site=site, inputs=sample.inputs, work=work)


def _integer_recurrent(rng: np.random.Generator) -> Layer:
    kind, dtype = ("QLSTM", "QGRU")[int(rng.integers(2))], (DType.I8, DType.I16)[int(rng.integers(2))]
    shape = (int(rng.integers(2, 12)), 1, int(rng.integers(4, 32)), int(rng.integers(4, 40)))
    sample = integer_recurrence(rng, kind, optional=False, dtype=dtype, shape=shape)
    site = site_of(vocabulary()[sample.op], sample.inputs, sample.attributes, sample.constants)
    name = f"{kind} {dtype.value} {list(shape)}"
    return Layer(name=name, site=site, inputs=sample.inputs, work=vocabulary()[sample.op].macs(site))


FAMILIES: Mapping[str, tuple[Draw, int]] = {
    "QConv": (_qconv, 48),
    "QConv deep": (_qconv_deep, 10),
    "QConv tall": (_qconv_tall, 8),
    "QConv depthwise": (_qconv_depthwise, 20),
    "QConv grouped": (_qconv_grouped, 8),
    "QGemm": (_qgemm, 14),
    "QMatMul": (_qmatmul, 8),
    "narrow blocks": (_narrow_blocks, 12),
    "QAveragePool": (_pool("QAveragePool"), 8),
    "QAveragePool global": (_global_pool, 4),
    "MaxPool": (_pool("MaxPool"), 10),
    "QReduceMean": (_qmean, 5),
    "QAdd": (_pair("QAdd"), 8),
    "QMul": (_pair("QMul"), 6),
    "QLookup": (_qlookup, 4),
    "QSoftmax": (_qsoftmax, 5),
    "QuantizeLinear": (_quantise, 3),
    "DequantizeLinear": (_dequantise, 3),
    "Conv": (_conv, 30),
    "Conv deep": (_conv_deep, 6),
    "Conv depthwise": (_conv_depthwise, 12),
    "Conv grouped": (_conv_grouped, 6),
    "Gemm": (_gemm, 12),
    "MatMul": (_matmul, 8),
    "float MaxPool": (_float_pool("MaxPool"), 5),
    "AveragePool": (_float_pool("AveragePool"), 5),
    "Add": (_pair("Add"), 6),
    "Mul": (_pair("Mul"), 5),
    "Clip": (_clip, 5),
    "Softmax": (_rows("Softmax"), 5),
    "LayerNormalization": (_rows("LayerNormalization"), 5),
    "ReduceMean": (_mean, 4),
    "BatchNormalization": (_batch_norm, 3),
    "moved bytes": (_moved(DType.I8), 12),
    "moved floats": (_moved(DType.F32), 12),
    "recurrent": (_recurrent, 12),
    "integer recurrent": (_integer_recurrent, 12),
}
