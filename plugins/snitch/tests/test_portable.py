"""Portable C on a core of the cluster: what GVSoC counted, at shapes that the figures were taken from and at others;
what the simulated core counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from snitch_run import run_on_iss
from timing import GVSOC_FAR

from tilewright.api.graph import Attribute, DType, Site
from tilewright.api.testing import refusal, site_of
from tilewright.operators.convolution import conv
from tilewright.operators.elementwise import unary
from tilewright.operators.pooling import pool
from tilewright.operators.products import gemm
from tilewright.operators.recurrent import recurrent
from tilewright.operators.reductions import softmax
from tilewright.plugins import load_for
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import recurrent_layer
from tilewright_snitch.portable import portable_cycles

OPERATORS = vocabulary()
PORTABLE = [kernel for kernel in load_for(target="snitch").kernels.values() if kernel.target == "*"]
UNARY = {operator.name: operator for operator in unary.OPERATORS}


def zeros(*shape: int, dtype: type = np.float32) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    return np.zeros(shape, dtype)


def window(side: int, stride: int, pad: int) -> dict[str, Attribute]:
    return {
        "kernel_shape": (side, side), "strides": (stride, stride), "dilations": (1, 1), "pads": (pad,) * 4,
        "ceil_mode": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("rows", "columns", "cycles"), [(16, 128, 591_000), (32, 48, 446_000), (8, 100, 8 * 28_700)])
def test_softmax(rows: int, columns: int, cycles: int) -> None:
    site = site_of(softmax.SOFTMAX, [zeros(rows, columns)], {"axis": 1})
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.05)


def test_functions() -> None:
    site = site_of(UNARY["Tanh"], [zeros(24, 100)], {})
    assert portable_cycles(site) == pytest.approx(8 * 115_000, rel=0.05)


@pytest.mark.parametrize(("dtype", "cycles"), [(DType.F16, 879_810), (DType.BF16, 521_583)])
def test_products_of_halves(dtype: DType, cycles: int) -> None:
    """On the simulated core, with GVSoC's timing."""
    site = site_of(gemm.GEMM, [np.zeros(shape, dtype.numpy) for shape in ((8, 64), (64, 64))], {}, (1,))
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.05)


@pytest.mark.parametrize(
    ("op", "dtype", "each"),
    [("Exp", DType.F16, 309), ("Sigmoid", DType.F16, 441), ("Tanh", DType.F16, 595), ("Abs", DType.F16, 44),
     ("Floor", DType.F16, 72), ("Exp", DType.BF16, 194), ("Sigmoid", DType.BF16, 354), ("Tanh", DType.BF16, 528),
     ("Abs", DType.BF16, 27), ("Cos", DType.F32, 285), ("Acosh", DType.F32, 1662)],
)  # fmt: skip
def test_functions_of_halves_too(op: str, dtype: DType, each: float) -> None:
    """On GVSoC, 24 x 100 elements."""
    site = site_of(UNARY[op], [np.ones((24, 100), dtype.numpy)], {})
    assert portable_cycles(site) == pytest.approx(2400 * each, rel=0.3)


@pytest.mark.parametrize(("name", "cycles"), [("LSTM", 8 * 125_400), ("GRU", 8 * 66_500), ("RNN", 8 * 15_400)])
def test_recurrent_layers(name: str, cycles: int) -> None:
    """Five steps of eight sequences and six units, on GVSoC."""
    layer = recurrent_layer(np.random.default_rng(1), name, optional=False, shape=(5, 8, 6))
    operator = next(one for one in recurrent.OPERATORS if one.name == layer.op)
    site = site_of(operator, layer.inputs, layer.attributes, layer.constants)
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inside", "outside", "side", "group", "size", "cycles"),
    [(8, 16, 3, 1, 8, 268_000), (16, 16, 1, 1, 8, 77_100), (16, 16, 3, 16, 8, 108_900), (16, 16, 3, 4, 8, 147_300),
     (1, 8, 5, 1, 20, 8 * 129_400)],
)  # fmt: skip
def test_convolutions(inside: int, outside: int, side: int, group: int, size: int, cycles: int) -> None:
    inputs = [zeros(1, inside, size, size), zeros(outside, inside // group, side, side), zeros(outside)]
    site = site_of(conv.CONV, inputs, window(side, 1, side // 2) | {"group": group}, (1, 2))
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.12)


@pytest.mark.parametrize(("dtype", "cycles"), [(np.float32, 46_100), (np.int8, 35_400)])
def test_pools(dtype: type, cycles: int) -> None:
    site = site_of(pool.MAX_POOL, [zeros(1, 16, 16, 16, dtype=dtype)], window(2, 2, 0))
    assert site.output.dtype in (DType.F32, DType.I8)
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.03)


def test_what_was_not_measured() -> None:
    assert portable_cycles(site_of(UNARY["Tanh"], [zeros(4, 4, dtype=np.float64)], {})) is None


def numbers(dtype: DType, *shape: int, low: int = -100, high: int = 100) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
    rng = np.random.default_rng(3)
    if dtype.is_float:
        return rng.standard_normal(shape).astype(dtype.numpy)
    return rng.integers(*((0, 2) if dtype is DType.BOOL else (low, high)), shape).astype(dtype.numpy)


def executed(
    op: str, inputs: list[Any], attributes: dict[str, Attribute], folder: Path, box: dict[str, tuple[int, int]] | None
) -> tuple[Site, int]:
    """A node and the cycles of its portable kernel, over all or some trips, on the simulated core."""
    site = site_of(OPERATORS[op], inputs, attributes)
    kernel = next(one for one in PORTABLE if one.op == op and refusal(one, site) is None)
    return site, run_on_iss(OPERATORS[op], kernel, site, inputs, folder, box, timing=GVSOC_FAR).cycles


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("dtype", [DType.I8, DType.F16, DType.F32])
def test_padded_rows_of_which_c_does_not_know_how_long_they_are(
    mode: str, dtype: DType, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """Six of 36 columns."""
    tool("riscv64-unknown-elf-gcc")
    attributes: dict[str, Attribute] = {"mode": mode, "pads": (1, 0, 2, 1, 2, 3)}
    if mode == "constant":
        attributes["value"] = 1.5 if dtype.is_float else 3
    x = numbers(dtype, 7, 11, 31)
    site = site_of(OPERATORS["Pad"], [x], attributes)
    kernel, box = next(one for one in PORTABLE if one.op == "Pad"), {"a2": (0, 6)}
    took = run_on_iss(OPERATORS["Pad"], kernel, site, [x], tmp_path, box, timing=GVSOC_FAR, opaque=True).cycles
    assert (portable_cycles(site) or 0) * 6 / 36 == pytest.approx(took, rel=0.25)


INTEGERS = (DType.I8, DType.I16, DType.I32)
DIVIDED = ("BitShift", "Div", "Mod", "Pow")  # whose second operand is small and positive
TWO: dict[str, dict[str, Attribute]] = {
    **{op: {} for op in ("Add", "BitwiseAnd", "Div", "Equal", "Less", "Max", "Min", "Mul", "Pow", "Sub")},
    "BitShift": {"direction": "LEFT"}, "Mod": {"fmod": 0},
}  # fmt: skip
ONE: dict[str, dict[str, Attribute]] = {
    "Abs": {}, "Arrival": {}, "Clip": {"min": -2, "max": 2}, "Neg": {}, "Sign": {}, "Transpose": {"perm": (2, 0, 1)},
    "ReduceMax": {"axes": (1,), "keepdims": 0}, "ReduceProd": {"axes": (1,), "keepdims": 0},
    "ReduceSum": {"axes": (1,), "keepdims": 0}, "ArgMax": {"axis": 1, "keepdims": 0},
    "CumProd": {"axis": 1, "exclusive": 0, "reverse": 0}, "CumSum": {"axis": 1, "exclusive": 0, "reverse": 0},
    "TopK": {"axis": 1, "k": 3, "largest": 1},
}  # fmt: skip


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", [*TWO, *ONE])
def test_integers_take_what_the_core_takes(op: str, dtype: DType, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Rows of an odd number of elements, of which few begin with a word."""
    tool("riscv64-unknown-elf-gcc")
    first = numbers(dtype, 5, 11, 29)
    second = [numbers(dtype, 11, 1, low=1, high=7) if op in DIVIDED else numbers(dtype, 11, 1)] if op in TWO else []
    site, cycles = executed(op, [first, *second], (TWO | ONE)[op], tmp_path, None)
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.25)


@pytest.mark.parametrize(
    ("op", "dtype", "attributes"),
    [("Add", DType.F64, {}), ("Div", DType.F64, {}), ("Where", DType.F32, {}), ("Not", DType.BOOL, {}),
     ("And", DType.BOOL, {}), ("Cast", DType.F32, {"to": "i8"}), ("Cast", DType.F16, {"to": "i8"}),
     ("Cast", DType.I16, {"to": "i32"}), ("Cast", DType.I8, {"to": "f32"}), ("Arrival", DType.F16, {}),
     ("Arrival", DType.F32, {}), ("Elu", DType.F32, {}), ("Elu", DType.F16, {}), ("Erf", DType.F32, {}),
     ("ArgMax", DType.F32, {"axis": 1, "keepdims": 0}), ("TopK", DType.F32, {"axis": 1, "k": 4, "largest": 1}),
     ("CumSum", DType.F32, {"axis": 1, "exclusive": 0, "reverse": 0}), ("Less", DType.F32, {})],
)  # fmt: skip
def test_other_elements_too(
    op: str, dtype: DType, attributes: dict[str, Attribute], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    inputs = [numbers(dtype, 5, 11, 29)]
    if op in ("Add", "Div", "Less", "And"):
        inputs.append(numbers(dtype, 11, 1))
    if op == "Where":
        inputs = [numbers(DType.BOOL, 5, 11, 29), *inputs, numbers(dtype, 11, 1)]
    site, cycles = executed(op, inputs, attributes, tmp_path, None)
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.25)
