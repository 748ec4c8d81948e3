"""Knows what portable C takes on a core of the cluster. Does not know this package's kernels: `bind` compares, and a
kernel is used exactly where it is expected to be the faster one.

The figures are cycles of one core over the whole node (gcc 12, -O3): from the simulator of tests/iss for the operators
that kernels of this package compute as well, from eight cores of GVSoC for the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import windows_of

BYTES = (DType.I8, DType.U8)


def portable_cycles(site: Site) -> float | None:
    """Cycles of one node, or None where nothing was measured."""
    models = _MODELS if site.output.dtype in BYTES else _FLOAT_MODELS if site.output.dtype is DType.F32 else {}
    model = models.get(site.node.op) or _ALL_MODELS.get(site.node.op)
    return model(site) if model else None


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
_MODELS: Mapping[str, Callable[[Site], float]] = {
    "QConv": _conv,
    "QGemm": _product,
    "QMatMul": _product,
    "QAveragePool": _average_pool,
    "MaxPool": _max_pool,
    "QLookup": lambda site: 10.0 * site.output.elements,
    "QAdd": lambda site: 18.5 * site.output.elements + 20,
    "QMul": partial(_each, 22.0),
    "QReduceMean": partial(_each_read, 6.0),
    "QSoftmax": partial(_each, 49.0),
    "QuantizeLinear": partial(_each, 112.0),  # the divider is one for all cores
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
    "MaxPool": partial(_each_tap, 20.0),
    "ReduceMax": partial(_each_read, 13.0),
    "ReduceMean": partial(_each_read, 6.0),
    "ReduceMin": partial(_each_read, 13.0),
    "ReduceSum": partial(_each_read, 6.0),
}
_ALL_MODELS: Mapping[str, Callable[[Site], float]] = {
    "Concat": partial(_each, 8.0),
    "Pad": partial(_each, 9.0),
    "Slice": partial(_each, 5.0),
    "Transpose": partial(_each, 4.0),
    "Upsample": partial(_each, 12.0),
}
