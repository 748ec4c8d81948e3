"""Knows for every operator of the core one or more layers that are too large for a small scratchpad.
Does not know how they are tiled or run.

Extents are odd, so that last tiles are smaller; paddings, strides, dilations, groups and broadcasting occur, and layers
of LSTM, GRU and RNN with and without what is optional.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import WEIGHT_BITS, Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.testing.dynamic_layers import dynamic_layers
from tilewright.testing.form_layers import form_layers
from tilewright.testing.integer_recurrences import integer_recurrences
from tilewright.testing.operator_sites import Sample, byte_array

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
from types import MappingProxyType

if TYPE_CHECKING:
    import numpy.typing as npt


_UNARY = (
    "Abs", "Asinh", "Atan", "Ceil", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "GeluTanh", "HardSigmoid",
    "HardSwish", "LeakyRelu", "Mish", "Neg", "Reciprocal", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh",
    "Softplus", "Softsign", "Swish", "Tan", "Tanh",
)  # fmt: skip
_POSITIVE = ("Log", "Sqrt")
_BELOW_1 = ("Acos", "Asin", "Atanh")
_BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
_BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min")
_COMPARE = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_REDUCE = ("ReduceMean", "ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin")
_UNIT = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0)}


def every_layer(seed: int = 0) -> tuple[Sample, ...]:
    """The layers, the same for the same seed."""
    numbers = np.random.default_rng(seed)
    families: tuple[Callable[[np.random.Generator], Iterable[Sample]], ...] = (
        _elementwise, _logical, _windows, _products, _rows, _reductions, _moving, _sampled, _quantised,
        _integer_windows, recurrent_layers, integer_recurrences, _integer_functions, _narrow,
        dynamic_layers, form_layers,
    )  # fmt: skip
    return tuple(layer for family in families for layer in family(numbers))


def _floats(numbers: np.random.Generator, *shape: int) -> npt.NDArray[np.float32]:
    return numbers.standard_normal(shape).astype(np.float32)


def _bytes(numbers: np.random.Generator, *shape: int) -> Array:
    return byte_array(numbers, DType.I8, shape, saturated=False)


def _elementwise(numbers: np.random.Generator) -> Iterator[Sample]:
    image = _floats(numbers, 5, 21, 23)
    for op in _UNARY:
        yield Sample(op=op, inputs=(image,))
    for op in _POSITIVE:
        yield Sample(op=op, inputs=(np.abs(image) + np.float32(0.1),))
    for op in _BELOW_1:
        yield Sample(op=op, inputs=(np.tanh(image),))
    yield Sample(op="Acosh", inputs=(1 + np.abs(image),))
    yield Sample(op="Pow", inputs=(np.abs(image), _floats(numbers, 21, 1)))
    for op in _BINARY:
        yield Sample(op=op, inputs=(image, _floats(numbers, 21, 1) + np.float32(0.5)))
    yield Sample(op="Add", kind="outer", inputs=(_floats(numbers, 67, 1), _floats(numbers, 1, 71)))
    yield Sample(op="Clip", inputs=(image,), attributes={"min": -0.5, "max": 1.5})
    yield Sample(op="Cast", inputs=(image * 50,), attributes={"to": "i8"})
    yield Sample(op="BitCast", inputs=(image,), attributes={"to": "i32"})
    channels = tuple(np.abs(_floats(numbers, 21)) + np.float32(0.1) for _ in range(4))
    yield Sample(op="BatchNormalization", inputs=(image, *channels), constants=(1, 2, 3, 4))


def _logical(numbers: np.random.Generator) -> Iterator[Sample]:
    image, row = numbers.integers(0, 4, (5, 21, 23)).astype(np.int32), numbers.integers(0, 4, 23).astype(np.int32)
    truths = image > 1
    for op in _COMPARE:
        yield Sample(op=op, inputs=(image, row))
    for op in _BITS:
        yield Sample(op=op, inputs=(image, row))
    yield Sample(op="BitShift", inputs=(image, row), attributes={"direction": "LEFT"})
    yield Sample(op="Mod", inputs=(image - 2, row - 3), attributes={"fmod": 0})
    for op in ("And", "Or", "Xor"):
        yield Sample(op=op, inputs=(truths, row > 1))
    yield Sample(op="Not", inputs=(truths,))
    yield Sample(op="Where", inputs=(truths, _floats(numbers, 21, 23), _floats(numbers, 5, 21, 1)))


def _window(kernel: Sequence[int], **changes: Sequence[int] | int) -> dict[str, Attribute]:
    samples: dict[str, Attribute] = {**_UNIT, "kernel_shape": tuple(kernel)}
    return samples | {name: value if isinstance(value, int) else tuple(value) for name, value in changes.items()}


def _windows(numbers: np.random.Generator) -> Iterator[Sample]:
    image = _floats(numbers, 1, 8, 19, 23)
    uneven = _window((3, 2), strides=(2, 3), dilations=(2, 1), pads=(2, 1, 3, 0))
    same = _window((3, 3), pads=(1, 1, 1, 1))
    yield _conv("same", image, _floats(numbers, 12, 8, 3, 3), same)
    yield _conv("strided and dilated", image, _floats(numbers, 12, 8, 3, 2), uneven)
    yield _conv("groups", image, _floats(numbers, 12, 4, 3, 3), {**same, "group": 2})
    yield _conv("depthwise", image, _floats(numbers, 8, 1, 3, 3), {**same, "group": 8})
    yield _conv("pointwise", image, _floats(numbers, 20, 8, 1, 1), _window((1, 1)))
    row = {"kernel_shape": (5,), "strides": (2,), "dilations": (3,), "pads": (4, 6)}
    yield _conv("1d", _floats(numbers, 2, 6, 151), _floats(numbers, 5, 6, 5), row)
    volume = {"kernel_shape": (2, 3, 3), "strides": (1, 2, 1), "dilations": (1, 1, 1), "pads": (1, 1, 1, 0, 1, 1)}
    yield _conv("3d", _floats(numbers, 1, 3, 7, 9, 11), _floats(numbers, 4, 3, 2, 3, 3), volume)
    weights = (image, _floats(numbers, 12, 8, 3, 3))
    yield Sample(op="Conv", kind="computed weights", inputs=weights, attributes=same)
    yield from _transposed(numbers)
    yield from _places(numbers)
    ceil = _window((3, 2), strides=(2, 2), pads=(1, 0, 1, 1), ceil_mode=1)
    for op in ("MaxPool", "AveragePool"):
        counted = {} if op == "MaxPool" else {"count_include_pad": 0}
        yield Sample(op=op, inputs=(image,), attributes={**uneven, **counted, "pads": (2, 1, 2, 0)})
        yield Sample(op=op, kind="ceil", inputs=(image,), attributes={**ceil, **counted})
        yield Sample(op=op, kind="global", inputs=(image,), attributes={**_window((19, 23)), **counted})


def _places(numbers: np.random.Generator) -> Iterator[Sample]:
    uneven = _window((3, 2), strides=(2, 3), dilations=(2, 1), pads=(2, 1, 2, 0))
    image = _floats(numbers, 1, 8, 19, 23)
    yield Sample(op="MaxPoolIndices", inputs=(image,), attributes={**uneven, "column_major": 0})


def _transposed(numbers: np.random.Generator) -> Iterator[Sample]:
    image, spread = _floats(numbers, 1, 12, 11, 13), {**_window((4, 3), strides=(2, 3), pads=(1, 0, 2, 1)), "group": 1}
    bias = np.linspace(-1, 1, 6, dtype=np.float32)
    whole = (image, _floats(numbers, 12, 6, 4, 3), bias)
    attributes: dict[str, Attribute] = {**spread, "output_padding": (1, 0)}
    yield Sample(op="ConvTranspose", inputs=whole, attributes=attributes, constants=(1, 2))
    dilated = {**attributes, "group": 3, "dilations": (2, 1)}
    groups = (image, _floats(numbers, 12, 2, 4, 3), bias)
    yield Sample(op="ConvTranspose", kind="groups", inputs=groups, attributes=dilated, constants=(1, 2))
    yield Sample(op="ConvTranspose", kind="computed weights", inputs=whole, attributes=attributes)


def _conv(kind: str, x: Array, w: Array, attributes: Mapping[str, Attribute]) -> Sample:
    bias = np.linspace(-1, 1, len(w), dtype=np.float32)
    return Sample(op="Conv", kind=kind, inputs=(x, w, bias), attributes=attributes, constants=(1, 2))


def _products(numbers: np.random.Generator) -> Iterator[Sample]:
    a, b, c = _floats(numbers, 27, 61), _floats(numbers, 61, 35), _floats(numbers, 35)
    yield Sample(op="Gemm", inputs=(a, b, c), constants=(1, 2))
    yield Sample(op="Gemm", kind="computed weights", inputs=(a, b, c))
    yield Sample(op="MatMul", inputs=(_floats(numbers, 2, 27, 61), b), constants=(1,))
    yield Sample(op="MatMul", kind="batches", inputs=(_floats(numbers, 3, 19, 23), _floats(numbers, 3, 23, 17)))


def _rows(numbers: np.random.Generator) -> Iterator[Sample]:
    rows = _floats(numbers, 3, 37, 29)
    for op in ("Softmax", "LogSoftmax"):
        yield Sample(op=op, inputs=(rows,), attributes={"axis": 2})
        yield Sample(op=op, kind="columns", inputs=(rows,), attributes={"axis": 1})
    yield Sample(op="LayerNormalization", inputs=(rows, _floats(numbers, 29), _floats(numbers, 29)), constants=(1, 2))
    yield Sample(op="RMSNormalization", inputs=(rows, _floats(numbers, 29)), constants=(1,))


def _reductions(numbers: np.random.Generator) -> Iterator[Sample]:
    volume = _floats(numbers, 17, 13, 11)
    for op in _REDUCE:
        yield Sample(op=op, inputs=(volume,), attributes={"axes": (1,), "keepdims": 0})
    for op in ("CumSum", "CumProd"):
        yield Sample(op=op, inputs=(volume,), attributes={"axis": 1, "exclusive": 0, "reverse": 1})
    yield Sample(op="TopK", inputs=(volume,), attributes={"axis": 1, "k": 4, "largest": 1})
    for op in ("ArgMax", "ArgMin"):
        yield Sample(op=op, inputs=(volume,), attributes={"axis": 1, "keepdims": 0})
    yield Sample(op="ReduceMean", kind="two axes", inputs=(volume,), attributes={"axes": (0, 2), "keepdims": 1})
    yield Sample(op="ReduceMax", kind="everything", inputs=(volume,), attributes={"axes": (0, 1, 2), "keepdims": 0})


def _moving(numbers: np.random.Generator) -> Iterator[Sample]:
    volume, shape = _floats(numbers, 9, 14, 22), (9, 14, 22)
    for axis in range(3):
        other = _floats(numbers, *(5 if at == axis else extent for at, extent in enumerate(shape)))
        yield Sample(op="Concat", kind=f"axis {axis}", inputs=(volume, other, volume), attributes={"axis": axis})
    steps: dict[str, Attribute] = {"starts": (8, 1, 2), "steps": (-2, 3, 1), "shape": (5, 4, 19)}
    yield Sample(op="Slice", inputs=(volume,), attributes=steps)
    yield Sample(op="Transpose", inputs=(volume,), attributes={"perm": (2, 0, 1)})
    yield Sample(op="Arrival", inputs=(volume,))
    yield Sample(op="Departure", inputs=(volume,))
    for mode in ("constant", "edge", "reflect", "wrap"):
        border: dict[str, Attribute] = {"mode": mode, "pads": (1, 3, 2, 0, 2, 4)}
        value: dict[str, Attribute] = {"value": 0.5} if mode == "constant" else {}
        yield Sample(op="Pad", kind=mode, inputs=(volume,), attributes={**border, **value})
    for kind, target in (("joined", (9, 308)), ("split", (9, 2, 7, 22)), ("regrouped", (9, 28, 11))):
        yield Sample(op="Reshape", kind=kind, inputs=(volume,), attributes={"shape": target})
    yield Sample(op="Reshape", kind="flat", inputs=(volume,), attributes={"shape": (9 * 14 * 22,)})
    indices = numbers.integers(-9, 9, (4, 5)).astype(np.int64)
    yield Sample(op="Gather", inputs=(volume, indices), attributes={"axis": 0})
    yield Sample(op="Gather", kind="constant indices", inputs=(volume, indices), attributes={"axis": 1}, constants=(1,))
    table, words = _floats(numbers, 211, 13), numbers.integers(0, 211, 19).astype(np.int32)
    yield Sample(op="Gather", kind="a few of many", inputs=(table, words), attributes={"axis": 0}, constants=(0,))
    places = numbers.integers(-14, 14, (9, 20, 22)).astype(np.int64)
    yield Sample(op="GatherElements", inputs=(volume, places), attributes={"axis": 1})
    field, chosen = _floats(numbers, 5, 7, 13), numbers.integers(0, 5 * 7, 9) * 13
    scattered: dict[str, Attribute] = {"reduction": "add", "slice": 13}
    yield Sample(op="Scatter", inputs=(field, chosen, _floats(numbers, 9, 13)), attributes=scattered)


def _sampled(numbers: np.random.Generator) -> Iterator[Sample]:
    up: dict[str, Attribute] = {"sizes": (17, 29), "slopes": (9, 10), "offsets": (-4, 0), "divisors": (17, 28)}
    yield Sample(op="ResizeLinear", inputs=(_floats(numbers, 1, 7, 9, 11),), attributes=up)
    first, weights = np.array([0, 3, 1, 6, 2], np.int32), _floats(numbers, 5, 4)
    image = _floats(numbers, 9, 10, 22)
    yield Sample(op="Resample", inputs=(image, first, weights), attributes={"axis": 1}, constants=(1, 2))
    yield Sample(op="Upsample", inputs=(_floats(numbers, 3, 9, 11),), attributes={"factors": (1, 3, 2)})
    grid = numbers.uniform(-1.3, 1.3, (2, 13, 17, 2)).astype(np.float32)
    sampling: dict[str, Attribute] = {"mode": "linear", "padding": "zeros", "align_corners": 0}
    yield Sample(op="GridSample", inputs=(_floats(numbers, 2, 5, 4, 6), grid), attributes=sampling)
    corners = np.sort(numbers.uniform(-1, 9, (11, 2, 2)), axis=1).reshape(11, 4).astype(np.float32)
    bins: dict[str, Attribute] = {"mode": "avg", "height": 5, "width": 7, "samples": 2, "scale": 0.8, "half_pixel": 1}
    yield Sample(
        op="RoiAlign",
        inputs=(_floats(numbers, 2, 9, 6, 8), corners, numbers.integers(0, 2, 11).astype(np.int64)),
        attributes=bins,
    )


def _requant(reach: float, channels: int = 1) -> Requant:
    scale = tuple(float(np.float32(200 / reach * (1 + 0.1 * channel))) for channel in range(channels))
    return Requant(scale=scale, zero_point=-3, low=-128, high=127)


def _quantised(numbers: np.random.Generator) -> Iterator[Sample]:
    image = _bytes(numbers, 8, 29, 31)
    add: dict[str, Attribute] = {"a_scale": 0.11, "b_scale": 0.07, "a_zero_point": 3, "b_zero_point": -5}
    limits: dict[str, Attribute] = {"zero_point": 2, "low": -128, "high": 127}
    yield Sample(op="QAdd", inputs=(image, _bytes(numbers, 29, 1)), attributes={**add, **limits})
    product: dict[str, Attribute] = {"a_zero_point": 3, "b_zero_point": -5, "requant": _requant(2.0e4)}
    yield Sample(op="QMul", inputs=(image, _bytes(numbers, 8, 1, 31)), attributes=product)
    yield Sample(op="QLookup", inputs=(image, _bytes(numbers, 256)), constants=(1,))
    below: Mapping[str, Attribute] = {"requant": _requant(200.0), "negative": _requant(900.0), "x_zero_point": 3}
    yield Sample(op="QRescale", inputs=(image,), attributes=below)
    scales: dict[str, Attribute] = {"x_scale": 0.05, "y_scale": 1 / 256}
    softmax: dict[str, Attribute] = {"axis": 2, **scales, "zero_point": -128, "low": -128, "high": 127}
    yield Sample(op="QSoftmax", inputs=(image,), attributes=softmax)
    floats, scale = _floats(numbers, 5, 21, 23), np.abs(_floats(numbers, 21)) + np.float32(0.02)
    quantise: dict[str, Attribute] = {"axis": 1, "to": "i8"}
    yield Sample(
        op="QuantizeLinear", inputs=(floats, scale, _bytes(numbers, 21)), attributes=quantise, constants=(1, 2)
    )
    yield Sample(
        op="DequantizeLinear",
        inputs=(_bytes(numbers, 9, 21, 23), scale, _bytes(numbers, 21)),
        attributes={"axis": 1},
        constants=(1, 2),
    )
    mean: dict[str, Attribute] = {"axes": (1, 2), "keepdims": 1, "x_zero_point": 4, "requant": _requant(2.0e4)}
    yield Sample(op="QReduceMean", inputs=(image,), attributes=mean)
    weights = (_bytes(numbers, 101, 53), numbers.integers(-900, 900, 53).astype(np.int32))
    sums: dict[str, Attribute] = {"a_zero_point": 5, "b_zero_point": 0}
    per_column = {**sums, "requant": _requant(1.0e6, 53)}
    yield Sample(op="QGemm", inputs=(_bytes(numbers, 37, 101), *weights), attributes=per_column, constants=(1, 2))
    batches = (_bytes(numbers, 3, 29, 47), _bytes(numbers, 3, 47, 31))
    zeros = (_bytes(numbers, 1), _bytes(numbers, 35))
    yield Sample(op="MatMulInteger", inputs=(_bytes(numbers, 2, 27, 61), _bytes(numbers, 61, 35), *zeros))
    yield Sample(op="QMatMul", inputs=batches, attributes={**sums, "requant": _requant(5.0e5)})


def _narrow(numbers: np.random.Generator) -> Iterator[Sample]:
    """Weights of 4 and 2 bits: of integers, and of floats with scales for blocks."""

    def weights(bits: int, *shape: int) -> Array:
        return numbers.integers(-(1 << (bits - 1)), 1 << (bits - 1), shape).astype(np.int8)

    for bits in (4, 2):
        columns: dict[str, Attribute] = {"a_zero_point": 5, "b_zero_point": 0, "requant": _requant(9.0e4, 53)}
        product = (_bytes(numbers, 37, 101), weights(bits, 101, 53), numbers.integers(-90, 90, 53).astype(np.int32))
        narrow: dict[str, Attribute] = {**columns, WEIGHT_BITS: bits}
        yield Sample(op="QGemm", kind=f"{bits} bits", inputs=product, attributes=narrow, constants=(1, 2))
        zero: dict[str, Attribute] = {"x_zero_point": -4, "w_zero_point": (0,), "pad_value": -4}
        window = {**_window((3, 3), pads=(1, 1, 1, 1)), **zero, "requant": _requant(4.0e4, 18), WEIGHT_BITS: bits}
        image = (_bytes(numbers, 1, 12, 27, 25), weights(bits, 18, 12, 3, 3))
        yield Sample(op="QConv", kind=f"{bits} bits", inputs=image, attributes=window, constants=(1,))
        scales = np.abs(_floats(numbers, 53, 4)) + np.float32(0.02)
        blocks = (_floats(numbers, 7, 101), weights(bits, 53, 101), scales, weights(bits, 53, 4), _floats(numbers, 53))
        sizes: dict[str, Attribute] = {WEIGHT_BITS: bits, "block_size": 32}
        yield Sample(op="MatMulNBits", kind=f"{bits} bits", inputs=blocks, attributes=sizes, constants=(1, 2, 3, 4))


def _integer_functions(numbers: np.random.Generator) -> Iterator[Sample]:
    image = _bytes(numbers, 8, 29, 31)
    limits: dict[str, Attribute] = {"low": -128, "high": 127}
    factors = [numbers.integers(-(2**21), 2**21, (8, 1, 1)).astype(np.int32) for _ in range(3)]
    affine: dict[str, Attribute] = {"x_zero_point": 3, "shift": 21, **limits}
    yield Sample(op="QAffine", inputs=(image, *factors), attributes=affine, constants=(1, 2, 3))
    normal: dict[str, Attribute] = {
        "axis": 1, "centred": 1, "x_zero_point": 3, "epsilon": 1 << 20, "epsilon_bits": 4, "bits": 22, "shift": 14,
    }  # fmt: skip
    rows = tuple(numbers.integers(-(2**27), 2**27, (1, 29, 1)).astype(np.int32) // part for part in (1, 64))
    yield Sample(op="QLayerNormalization", inputs=(image, *rows), attributes={**normal, **limits}, constants=(1, 2))
    softmax: dict[str, Attribute] = {"axis": 2, "x_scale": 0.05, "y_scale": 1 / 256, "zero_point": -128, **limits}
    yield Sample(op="QMaskedSoftmax", inputs=(image, numbers.random((29, 31)) < 0.4), attributes=softmax)
    yield Sample(op="QLogSoftmax", inputs=(image,), attributes={**softmax, "zero_point": 127, "y_scale": 0.06})
    lines: dict[str, Attribute] = {"sizes": (17, 29), "slopes": (9, 10), "offsets": (-4, 0), "divisors": (17, 28)}
    resize: dict[str, Attribute] = {**lines, "x_zero_point": 4, "requant": _requant(6.0e4)}
    yield Sample(op="QResizeLinear", inputs=(_bytes(numbers, 1, 7, 9, 11),), attributes=resize)
    yield Sample(
        op="DynamicScale", inputs=(_floats(numbers, 9, 21) - np.float32(1), _floats(numbers, 9, 21) + np.float32(1))
    )


def _integer_windows(numbers: np.random.Generator) -> Iterator[Sample]:
    image = _bytes(numbers, 1, 12, 27, 25)
    same, uneven = _window((3, 3), pads=(1, 1, 1, 1)), _window((3, 2), strides=(2, 3), dilations=(2, 1))
    kinds: tuple[tuple[str, tuple[int, ...], Mapping[str, Attribute]], ...] = (
        ("same", (18, 12, 3, 3), same),
        ("strided and dilated", (18, 12, 3, 2), {**uneven, "pads": (2, 1, 3, 0)}),
        ("groups", (18, 4, 3, 3), {**same, "group": 3}),
        ("depthwise", (12, 1, 3, 3), {**same, "group": 12}),
    )
    for kind, shape, window in kinds:
        bias = numbers.integers(-500, 500, shape[0]).astype(np.int32)
        zero: dict[str, Attribute] = {"x_zero_point": -4, "w_zero_point": (0,), "pad_value": -4}
        attributes = {**window, **zero, "requant": _requant(4.0e5, shape[0])}
        inputs = (image, _bytes(numbers, *shape), bias)
        yield Sample(op="QConv", kind=kind, inputs=inputs, attributes=attributes, constants=(1, 2))
    zeros = (_bytes(numbers, 1), _bytes(numbers, 18))
    computed = (image, _bytes(numbers, 18, 4, 3, 3), *zeros)
    yield Sample(op="ConvInteger", inputs=computed, attributes={**same, "group": 3}, constants=(1,))
    ceil = {**_window((3, 2), strides=(2, 2), pads=(1, 0, 1, 1)), "ceil_mode": 1}
    counts = tuple(float(np.float32(0.9 / count)) for count in range(1, 7))
    by_count = Requant(scale=counts, zero_point=1, low=-128, high=127)
    pool: dict[str, Attribute] = {"x_zero_point": -4, "count_include_pad": 0, "requant": by_count}
    yield Sample(op="QAveragePool", kind="ceil", inputs=(image,), attributes={**ceil, **pool})
    whole = {**_window((27, 25)), **pool, "requant": _requant(2.0e4)}
    yield Sample(op="QAveragePool", kind="global", inputs=(image,), attributes=whole)
    yield Sample(op="MaxPool", kind="bytes", inputs=(image,), attributes=ceil)


_GATES = MappingProxyType({"LSTM": 4, "GRU": 3, "RNN": 1})
_DEFAULTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
)


def recurrent_layers(numbers: np.random.Generator) -> Iterator[Sample]:
    """Plain ones, and ones with everything that is optional."""
    for name in _GATES:
        yield recurrent_layer(numbers, name, optional=False)
        yield recurrent_layer(numbers, name, optional=True)
    yield recurrent_layer(numbers, "GRU", optional=True, inside=True)


def recurrent_layer(
    numbers: np.random.Generator,
    name: str,
    *,
    optional: bool,
    inside: bool = False,
    shape: tuple[int, int, int] = (7, 11, 5),
    **attributes: Attribute,
) -> Sample:
    """One of steps, sequences and units; `inside`: a GRU's bias is inside its reset."""
    steps, batches, hidden = shape
    gates = _GATES[name] * hidden

    def floats(*extents: int) -> npt.NDArray[np.float32]:
        return numbers.standard_normal(extents).astype(np.float32)

    lengths = numbers.integers(0, steps + 1, batches).astype(np.int32)
    extra = (
        floats(hidden) if inside else None,
        floats(3 * hidden) if name == "LSTM" else None,
        lengths,
        floats(batches, hidden),
        floats(batches, hidden) if name == "LSTM" else None,
    )
    functions = _DEFAULTS[name]
    chosen: dict[str, Attribute] = {
        "activations": functions,
        "alphas": (0.0,) * len(functions),
        "betas": (0.0,) * len(functions),
        "reverse": int(optional),
        **({"clip": 1.5} if optional else {}),
        **({"linear_before_reset": int(inside)} if name == "GRU" else {}),
        **attributes,
    }
    kind = ("bias inside" if inside else "everything") if optional else ""
    inputs = (floats(steps, batches, gates), floats(gates, hidden), *(extra if optional else ()))
    return Sample(op=f"{name}Steps", kind=kind, inputs=inputs, attributes=chosen, constants=(1,))
