"""Knows what portable C takes on a core of the cluster. Does not know this package's kernels: `bind` compares, and a
kernel is used exactly where it is expected to be the faster one.

The figures are cycles of one core over the whole node (gcc 12, -O3): from the simulator of tests/iss for the operators
that kernels of this package compute as well, from eight cores of GVSoC for the others, and for values of 16 bits. Sums
of those may need 64 bits: their products are then of two words, and each becomes a float in a function of libgcc.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import scaled_sum_form, sum_bounds, windows_of

BYTES = (DType.I8, DType.U8)
WORDS = (DType.I16, DType.U16)


def portable_cycles(site: Site) -> float | None:
    """Cycles of one node, or None where nothing was measured."""
    model = _models(site).get(site.node.op) or _ALL_MODELS.get(site.node.op)
    return model(site) if model else None


def _models(site: Site) -> Mapping[str, Callable[[Site], float]]:
    """By what is written, and of integers by what is read, too: bytes may be made of values of 16 bits."""
    made = site.output.dtype
    if made is DType.F32:
        return _FLOAT_MODELS
    if made in WORDS or (made in BYTES and site.input(0).dtype in WORDS):
        return _WORD_MODELS
    return _BYTE_MODELS if made in BYTES else {}


def _wide(site: Site) -> bool:
    """Whether sums need 64 bits."""
    return sum_bounds(site).bits > 32


def _conv(site: Site) -> float:
    windows, w, group = windows_of(site.node), site.input(1), site.node.integer("group", 1)
    taps = math.prod(windows.kernel)
    if 1 < group == w.shape[0]:
        return site.output.elements * (110 + 10.0 * taps)  # 45 and 4.5 of one core alone: much code for few products
    runs = taps // windows.kernel[-1] if group == 1 and windows.dilations[-1] == 1 else taps
    return site.output.elements * (20 + 15 * runs + 4.75 * w.shape[1] * taps)


def _product(site: Site) -> float:
    return site.output.elements * (4.8 * site.input(0).shape[-1] + 25)


def _average_pool(site: Site) -> float:
    return site.output.elements * (2.2 * math.prod(windows_of(site.node).kernel) + 20)


def _max_pool(site: Site) -> float:
    return site.output.elements * (7.0 * math.prod(windows_of(site.node).kernel) + 5)


def _sum_of_two(site: Site) -> float:
    """By the form that is exact: 32 bits, 64, or a quotient and a remainder of 64, each from libgcc."""
    form = scaled_sum_form(site)
    each = 18.5 if form is None or form.bits == 32 else 490.0 if form.divisor else 52.0
    return each * site.output.elements + 20


def _word_conv(site: Site) -> float:
    windows, w = windows_of(site.node), site.input(1)
    taps, products = math.prod(windows.kernel), math.prod(w.shape[1:])
    if _wide(site):
        return site.output.elements * (_WIDE_FINISH + 18.0 * products)
    if w.shape[1] == 1:
        return site.output.elements * (55 + 15 * taps // windows.kernel[-1] + 3.6 * taps)
    runs = taps // windows.kernel[-1] if windows.dilations[-1] == 1 else taps
    return site.output.elements * (60 + 20 * runs + 6.5 * products)


def _word_product(each: float, finish: float, site: Site) -> float:
    """`finish` of an output of 64 bits, which has taken `each` for a product."""
    depth = site.input(0).shape[-1]
    return site.output.elements * (finish + each * depth if _wide(site) else 25 + 5.7 * depth)


def _requantised(each: float, site: Site) -> float:
    """An element alone."""
    return (_WIDE_FINISH if _wide(site) else each) * site.output.elements


def _window(each: float, finish: float, site: Site) -> float:
    return site.output.elements * (finish + each * math.prod(windows_of(site.node).kernel))


def _rows(each: float, row: float, site: Site) -> float:
    """Of an element, and of a row, whose elements are those of the axes from `axis` on."""
    shape = site.input(0).shape
    return each * math.prod(shape) + row * math.prod(shape[: site.node.integer("axis")])


def _resize(site: Site) -> float:
    """Where neighbours of a pixel are is found by every core that has channels of it."""
    return 55.0 * site.output.elements * (1 + 8 / site.output.shape[1])


def _recurrent(each: float, product: float, site: Site) -> float:
    """Step after step: `each` of a unit, whose gates' products with the state, and in integers with the input, too,
    take `product`.
    """
    steps, sequences = site.input(0).shape[:2]
    integers = site.node.op.startswith("Q")
    weights = site.input(1).elements + (site.input(2).elements if integers else 0)
    units = site.input(2 if integers else 1).shape[1]
    return steps * sequences * (each * units + product * weights)


def _float_conv(site: Site) -> float:
    windows, w, group = windows_of(site.node), site.input(1), site.node.integer("group", 1)
    each = 14.0 if group == w.shape[0] > 1 else 7.5  # 10.5 and 4.0 where a core need not share the unit that adds
    return site.output.elements * (each * w.shape[1] * math.prod(windows.kernel) + 10)


def _float_elements(site: Site) -> float:
    clipped = {"clip_low", "clip_high"} & set(site.node.attributes)
    return (19.0 if clipped else 12.0) * site.output.elements + 20


def _each(cycles: float, site: Site) -> float:
    return cycles * site.output.elements


def _each_read(cycles: float, site: Site) -> float:
    return cycles * site.input(0).elements


def _each_tap(cycles: float, site: Site) -> float:
    return cycles * site.output.elements * math.prod(windows_of(site.node).kernel)


# for each element; functions by their usual branches; what divides waits for the one divider
_FLOAT_CYCLES: Mapping[str, float] = {
    "Abs": 12.5, "Clip": 14.0, "Erf": 110.0, "Exp": 68.0, "Gelu": 195.0, "GeluTanh": 109.0, "HardSigmoid": 20.0,
    "HardSwish": 19.0, "LayerNormalization": 40.0, "LeakyRelu": 12.0, "LogSoftmax": 99.0, "Neg": 9.0,
    "RMSNormalization": 27.0, "Reciprocal": 125.0, "Sigmoid": 200.0, "Softmax": 102.0, "Sqrt": 303.0, "Swish": 210.0,
    "Tanh": 210.0,
}  # fmt: skip
_WIDE_FINISH = 650.0  # of a sum of 64 bits that becomes a float and is rounded
_INTEGER_MODELS: Mapping[str, Callable[[Site], float]] = {  # of 8 bits and of 16
    "QAdd": _sum_of_two,
    "QAffine": partial(_each, 21.0),
    "QLayerNormalization": partial(_rows, 55.5, 1000.0),  # of a row, a root and a quotient of 64 bits
    "QReduceMean": partial(_each_read, 6.0),
    "QResizeLinear": _resize,
    "QuantizeLinear": partial(_each, 112.0),  # the divider is one for all cores
}
_BYTE_MODELS: Mapping[str, Callable[[Site], float]] = {
    **_INTEGER_MODELS,
    "QConv": _conv,
    "QGemm": _product,
    "QMatMul": _product,
    "QAveragePool": _average_pool,
    "MaxPool": _max_pool,
    "QGRU": partial(_recurrent, 355.0, 7.2),
    "QLSTM": partial(_recurrent, 635.0, 6.8),
    "QLogSoftmax": partial(_rows, 43.5, 620.0),
    "QLookup": partial(_each, 10.0),
    "QMaskedSoftmax": partial(_each, 65.0),
    "QMul": partial(_each, 22.0),
    "QRescale": partial(_each, 20.7),
    "QSoftmax": partial(_each, 49.0),
}
_WORD_MODELS: Mapping[str, Callable[[Site], float]] = {
    **_INTEGER_MODELS,
    "QConv": _word_conv,
    "QGemm": partial(_word_product, 15.7, _WIDE_FINISH),
    "QMatMul": partial(_word_product, 16.0, 1050.0),
    "QAveragePool": partial(_window, 8.0, 25.0),
    "MaxPool": partial(_window, 18.0, 0.0),
    "QGRU": partial(_recurrent, 425.0, 12.8),
    "QLSTM": partial(_recurrent, 730.0, 12.4),
    "QMul": partial(_requantised, 25.5),
    "QRescale": partial(_requantised, 20.7),
    "QSoftmax": partial(_rows, 195.0, 650.0),
}
_FLOAT_MODELS: Mapping[str, Callable[[Site], float]] = {
    "Conv": _float_conv,
    "Gemm": lambda site: site.output.elements * (4.8 * site.input(0).shape[-1] + 10),
    "MatMul": lambda site: site.output.elements * (4.7 * site.input(0).shape[-1] + 10),
    "Add": _float_elements,
    "Sub": _float_elements,
    "Mul": _float_elements,
    "Div": lambda site: _float_elements(site) + 120.0 * site.output.elements,
    **{op: partial(_each, cycles) for op, cycles in _FLOAT_CYCLES.items()},
    "AveragePool": lambda site: site.output.elements * (11.0 * math.prod(windows_of(site.node).kernel) + 40),
    "DequantizeLinear": partial(_each, 12.0),
    "GRUSteps": partial(_recurrent, 485.0, 12.6),
    "LSTMSteps": partial(_recurrent, 1090.0, 13.5),
    "MaxPool": partial(_each_tap, 20.0),
    "ReduceMax": partial(_each_read, 13.0),
    "ReduceMean": partial(_each_read, 6.0),
    "ReduceMin": partial(_each_read, 13.0),
    "RNNSteps": partial(_recurrent, 60.0, 13.3),
    "ReduceSum": partial(_each_read, 6.0),
}
_ALL_MODELS: Mapping[str, Callable[[Site], float]] = {
    "Concat": partial(_each, 8.0),
    "Pad": partial(_each, 9.0),
    "Slice": partial(_each, 5.0),
    "Transpose": partial(_each, 4.0),
    "Upsample": partial(_each, 12.0),
}
