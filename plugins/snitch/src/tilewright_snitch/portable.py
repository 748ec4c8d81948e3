"""Knows what portable C takes on a core of the cluster. Does not know this package's kernels: `bind` compares, and a
kernel is used exactly where it is expected to be the faster one.

The figures are cycles of one core over the whole node (gcc 12, -O3): of GVSoC (commit 209c147), where eight cores do
not disturb each other, and for integers, moves and conversions of the simulated core with GVSoC's timing, at shapes of
the tests. Functions read some of their constants from the main memory, which takes 75 to a hundred cycles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import windows_of


def portable_cycles(site: Site) -> float | None:
    """Cycles of one node, or None where nothing was measured."""
    models = _OF_TYPES.get(site.output.dtype, {})
    model = models.get(site.node.op) or _ALL_MODELS.get(site.node.op)
    return model(site) if model else None


def _conv(each: float, alone: float, site: Site) -> float:
    """`each` of a product, or `alone` where channels are read one by one."""
    w = site.input(1)
    return site.output.elements * (12 + (alone if w.shape[1] == 1 else each) * math.prod(w.shape[1:]))


def _product(each: float, site: Site) -> float:
    return site.output.elements * (20 + each * site.input(0).shape[-1])


def _window(each: float, finish: float, site: Site) -> float:
    return site.output.elements * (finish + each * math.prod(windows_of(site.node).kernel))


def _float_elements(site: Site) -> float:
    return (22.5 if {"clip_low", "clip_high"} & set(site.node.attributes) else 9.5) * site.output.elements


def _each(cycles: float, site: Site) -> float:
    return cycles * site.output.elements


def _each_read(cycles: float, site: Site) -> float:
    return cycles * site.input(0).elements


def _recurrent(functions: int, each: float, site: Site) -> float:
    """`each` of an activation, of which a unit has so many in a step; its products take five cycles."""
    (steps, sequences, gates), units = site.input(0).shape, site.input(1).shape[1]
    return steps * sequences * (units * functions * each + 5.0 * gates * units)


def _converted(each: float, longer: float, alone: float, site: Site) -> float:
    """Elements of 16 bits, computed as float32: `each` to convert them, `alone` for float32, functions `longer`."""
    return (alone * (longer if alone > _FUNCTION else 1.0) + each) * site.output.elements


def _moved(site: Site) -> float:
    """Neighbours that go to neighbours: a word at a time, as far as they fill one."""
    return _MOVE_CYCLES * min(site.output.dtype.size_bytes, 4) / 4 * site.output.elements


def _cast(site: Site) -> float:
    """By what is read; floats become integers in parts, so that what has no place there is known."""
    dtype, made = site.input(0).dtype, site.output.dtype
    if dtype is made:
        return _moved(site)
    if not dtype.is_float:
        return 6.0 * site.output.elements
    return (34.0 if dtype.is_half else 23.0) * site.output.elements


def _pad(site: Site) -> float:
    """Rows of four or five elements, of which C does not know how many: inner columns, as cores share them."""
    mode, small = str(site.node.attributes.get("mode", "constant")), site.output.dtype.size_bytes < 4
    figures = {"constant": 10.3 if small else 11.7, "edge": 15.3, "wrap": 14.8}
    return figures.get(mode, 21.8) * site.output.elements


def _compared(site: Site) -> float:
    return (11.2 if site.input(0).dtype.is_float else 9.0) * site.output.elements


def _sought(site: Site) -> float:
    """Where the largest or smallest element is."""
    x = site.input(0)
    return (17.0 if x.dtype.is_float else 4.0) * x.elements


def _top(each: float, kept: float, site: Site) -> float:
    """Of every element read, and so much more for each one of those that are kept."""
    return site.input(0).elements * (each + kept * site.node.integer("k"))


_FUNCTION = 100.0  # what takes longer has constants
_FLOAT_CYCLES: Mapping[str, float] = {  # for each element; functions by their usual branches
    "Abs": 10.5, "Acos": 442.0, "Acosh": 1662.0, "Asin": 346.0, "Asinh": 1697.0, "Atan": 205.0, "Atanh": 1147.0,
    "Ceil": 40.0, "Clip": 12.0, "Cos": 285.0, "Cosh": 289.0, "Div": 22.0, "Elu": 120.0, "Erf": 1190.0, "Exp": 214.0,
    "Floor": 39.0, "Gelu": 2254.0, "GeluTanh": 471.0, "HardSigmoid": 20.0, "HardSwish": 22.5, "LeakyRelu": 8.5,
    "Log": 220.0, "Max": 22.0, "Min": 22.0, "Mish": 281.0, "Neg": 4.0, "Pow": 3094.0, "Reciprocal": 14.0,
    "Round": 44.0, "Selu": 241.0, "Sigmoid": 371.0, "Sign": 4.5, "Sin": 179.0, "Sinh": 615.0, "Softplus": 609.0,
    "Softsign": 22.0, "Sqrt": 227.0, "Swish": 373.0, "Tan": 408.0, "Tanh": 383.0, "Where": 10.0,
}  # fmt: skip
_ROW_CYCLES: Mapping[str, float] = {
    "LayerNormalization": 42.0, "LogSoftmax": 310.0, "RMSNormalization": 24.5, "Softmax": 290.0,
}  # fmt: skip
_FLOAT_MODELS: Mapping[str, Callable[[Site], float]] = {
    **{op: partial(_each, cycles) for op, cycles in (*_FLOAT_CYCLES.items(), *_ROW_CYCLES.items())},
    "Add": _float_elements,
    "Sub": _float_elements,
    "Mul": _float_elements,
    "Conv": partial(_conv, 3.55, 11.5),
    "Gemm": partial(_product, 4.6),
    "MatMul": partial(_product, 4.5),
    "AveragePool": partial(_window, 8.0, 65.0),
    "MaxPool": partial(_window, 11.2, 0.0),
    "MaxPoolIndices": partial(_window, 13.0, 0.0),
    "ReduceMax": partial(_each_read, 10.0),
    "ReduceMean": partial(_each_read, 6.0),
    "ReduceMin": partial(_each_read, 10.0),
    "ReduceSum": partial(_each_read, 5.0),
    "CumProd": partial(_each, 7.7),
    "CumSum": partial(_each, 8.0),
    "GridSample": partial(_each, 96.0),
    "TopK": partial(_top, 23.0, 8.0),
    "LSTMSteps": partial(_recurrent, 5, 812.0),
    "GRUSteps": partial(_recurrent, 3, 709.0),
    "RNNSteps": partial(_recurrent, 1, 483.0),
}
_MOVE_CYCLES = 5.0  # of a word: read, written, and the loop
_INTEGER_CYCLES: Mapping[str, tuple[float, float, float]] = {  # of an element of one byte, two, four
    "Abs": (8.0, 8.0, 8.0), "Add": (7.0, 7.3, 8.2), "BitShift": (10.2, 11.2, 9.2), "BitwiseAnd": (7.0, 7.3, 8.2),
    "BitwiseOr": (7.0, 7.3, 8.2), "BitwiseXor": (7.0, 7.3, 8.2), "Clip": (13.0, 13.0, 8.0),
    "CumProd": (13.2, 12.2, 10.4), "CumSum": (7.0, 5.8, 4.1), "Div": (13.0, 13.0, 17.0),
    "Max": (12.3, 12.3, 8.6), "Min": (12.3, 12.3, 8.6),
    "Mod": (22.5, 22.0, 20.5), "Mul": (14.2, 14.2, 14.2), "Neg": (2.6, 6.0, 6.0), "Pow": (54.0, 52.0, 53.0),
    "Sign": (8.0, 8.0, 8.0), "Sub": (7.0, 7.3, 8.2), "Where": (10.5, 10.2, 10.2),
}  # fmt: skip
_INTEGER_READ: Mapping[str, tuple[float, float, float]] = {  # of an element that is read
    "ReduceMax": (9.6, 9.8, 6.6), "ReduceMin": (9.6, 9.8, 6.6), "ReduceProd": (12.5, 11.8, 11.3),
    "ReduceSum": (6.0, 6.0, 5.7),
}  # fmt: skip


def _integers(size: int) -> Mapping[str, Callable[[Site], float]]:
    """Of so many bytes."""
    at = (1, 2, 4).index(size)
    return {
        **{op: partial(_each, cycles[at]) for op, cycles in _INTEGER_CYCLES.items()},
        **{op: partial(_each_read, cycles[at]) for op, cycles in _INTEGER_READ.items()},
        "TopK": partial(_top, 15.0, 6.5),
    }


_BYTES: Mapping[str, Callable[[Site], float]] = {
    **_integers(1),
    "QConv": partial(_conv, 10.1, 15.0),
    "QGemm": partial(_product, 8.2),
    "QMatMul": partial(_product, 9.4),
    "QAveragePool": partial(_window, 2.4, 20.0),
    "MaxPool": partial(_window, 8.7, 0.0),
    "QAdd": partial(_each, 22.5),
    "QMul": partial(_each, 19.6),
    "QLookup": partial(_each, 7.4),
    "QReduceMean": partial(_each_read, 4.0),
    "QSoftmax": partial(_each, 43.0),
    "MaxPoolIndices": partial(_window, 6.0, 0.0),
}
_DOUBLE_MODELS: Mapping[str, Callable[[Site], float]] = {
    op: partial(_each, cycles) for op, cycles in {"Add": 9.0, "Sub": 9.0, "Mul": 9.0, "Div": 26.0, "Clip": 16.5}.items()
}
# Of a product whose factors are converted (on the simulated core); of one of a channel by itself; of converting and
# rounding an element; how much longer functions take, because fewer of their constants stay in registers.
_HALF_CYCLES = {DType.F16: (26.5, 53.0, 35.0, 1.3), DType.BF16: (15.7, 31.0, 14.0, 1.1)}


def _halves(each: float, alone: float, element: float, longer: float) -> Mapping[str, Callable[[Site], float]]:
    return {
        "Conv": partial(_conv, each, alone),
        "Gemm": partial(_product, each),
        "MatMul": partial(_product, each),
        **{op: partial(_converted, element, longer, cycles) for op, cycles in _FLOAT_CYCLES.items()},
        **{op: partial(_converted, element, longer, 12.0) for op in ("Add", "Sub", "Mul")},
    }


_OF_TYPES: Mapping[DType, Mapping[str, Callable[[Site], float]]] = {
    DType.F32: _FLOAT_MODELS,
    DType.F64: _DOUBLE_MODELS,
    **dict.fromkeys((DType.I8, DType.U8), _BYTES),
    **dict.fromkeys((DType.I16, DType.U16), _integers(2)),
    **dict.fromkeys((DType.I32, DType.U32), _integers(4)),
    **{half: _halves(*cycles) for half, cycles in _HALF_CYCLES.items()},
}
_ALL_MODELS: Mapping[str, Callable[[Site], float]] = {
    **dict.fromkeys(("And", "Or", "Xor"), partial(_each, 7.2)),
    **dict.fromkeys(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"), _compared),
    **dict.fromkeys(("Arrival", "BitCast", "Departure"), _moved),
    "ArgMax": _sought,
    "ArgMin": _sought,
    "Cast": _cast,
    "Concat": partial(_each, _MOVE_CYCLES),
    "MatMulInteger": partial(_product, 12.6),
    "Not": partial(_each, 6.0),
    "Pad": _pad,
    "Reshape": partial(_each, _MOVE_CYCLES),
    "Slice": partial(_each, _MOVE_CYCLES),
    "Transpose": partial(_each, _MOVE_CYCLES),
}
