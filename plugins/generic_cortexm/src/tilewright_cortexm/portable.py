"""Knows what portable C takes on Cortex-M for the operators that kernels of this package compute as well.
Does not know those kernels. `bind` compares: a kernel is used exactly where it is expected to be the faster one.

The figures are executed instructions, fitted to `benchmarks/cortex_m_layers.py --portable` (gcc 12.2, -O2). Armv7-M
and Armv8-M cores differ by less than a tenth, so there is one set for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import scaled_sum_form, sum_requant, windows_of

BYTES = (DType.I8, DType.U8)


def portable_cycles(site: Site) -> float | None:
    """Instructions of one node, or None where nothing was measured."""
    model = _MODELS.get(site.node.op)
    return model(site) if model else None


def _conv(site: Site) -> float:
    windows, w, group = windows_of(site.node), site.input(1), site.node.integer("group", 1)
    taps = math.prod(windows.kernel)
    if 1 < group == w.shape[0]:
        four = w.shape[0] >= 4
        return site.output.elements * (20 + (6.6 if four else 13) * taps)
    joined, outputs = group == 1 and windows.dilations[-1] == 1, w.shape[0] // group
    runs = taps // windows.kernel[-1] if joined else taps
    each = (2.9 * (outputs - outputs % 4) + 6.2 * (outputs % 4)) / outputs  # four together, or one
    return site.output.elements * (34 + (16 if joined else 9) * runs + each * w.shape[1] * taps)


def _gemm(site: Site) -> float:
    return site.output.elements * (2.6 * site.input(0).shape[-1] + 20) + 70


def _matmul(site: Site) -> float:
    return site.output.elements * (4.0 * site.input(0).shape[-1] + 25)


def _average_pool(site: Site) -> float:
    return site.output.elements * (2.8 * math.prod(windows_of(site.node).kernel) + 25)


def _max_pool(site: Site) -> float:
    return site.output.elements * (8.5 * math.prod(windows_of(site.node).kernel) + 5)


def _mean(site: Site) -> float:
    return 3.4 * site.input(0).elements + 25 * site.output.elements


def _sum(site: Site) -> float:
    form = scaled_sum_form(site)
    return (16 if form and form.bits == 32 else 25) * site.output.elements + 20


def _product(site: Site) -> float:
    if site.node.rounding != "onnx":
        return 24.0 * site.output.elements + 20
    form = sum_requant(site)
    return (14 if all(form.proved) and form.shift > 32 else 21) * site.output.elements + 20


def _elementwise(instructions: float) -> Callable[[Site], float]:
    return lambda site: instructions * site.output.elements + 20


_MODELS: Mapping[str, Callable[[Site], float | None]] = {
    "QConv": _conv,
    "QGemm": _gemm,
    "QMatMul": _matmul,
    "QAveragePool": _average_pool,
    "MaxPool": lambda site: _max_pool(site) if site.output.dtype in BYTES else None,
    "QReduceMean": _mean,
    "QAdd": _sum,
    "QMul": _product,
    "QLookup": _elementwise(6.5),
    "QSoftmax": _elementwise(33),
    "QuantizeLinear": lambda site: _elementwise(31)(site) if site.output.dtype in BYTES else None,
}
