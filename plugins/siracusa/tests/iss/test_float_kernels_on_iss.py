"""Kernels of floats on the simulated core: inside the error model, as fast as estimated, faster than portable C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from iss_run import run_on_iss

from tilewright.api.testing import refusal, result_errors, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.convolution.conv import CONV, CONV_F32
from tilewright.operators.elementwise import binary
from tilewright.operators.products.gemm import GEMM, GEMM_WEIGHTS_F32
from tilewright.operators.products.matmul import MATMUL, MATMUL_F32
from tilewright_siracusa.kernels import float_conv, float_depthwise, float_elements, float_matmul

Array = npt.NDArray[np.generic]
Made = tuple[Operator, Kernel, Kernel, Site, list[Array | None]]


@dataclass(frozen=True)
class Case:
    """A layer, and at least how many times faster than portable C it is."""

    name: str
    make: Callable[[np.random.Generator], Made]
    faster: float
    within: float = 0.15

    def __str__(self) -> str:
        return self.name


def random(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def conv(
    inputs: int, outputs: int, image: tuple[int, int], taps: int, *, pad: int = 0, stride: int = 1, group: int = 1
) -> Callable[[np.random.Generator], Made]:
    def make(rng: np.random.Generator) -> Made:
        made: list[Array | None] = [
            random(rng, 1, inputs, *image), random(rng, outputs, inputs // group, taps, taps), random(rng, outputs),
        ]  # fmt: skip
        attributes: dict[str, Attribute] = {
            "kernel_shape": (taps, taps), "strides": (stride, stride), "dilations": (1, 1), "pads": (pad,) * 4,
            "ceil_mode": 0, "group": group, "clip_low": 0.0,
        }  # fmt: skip
        kernel = float_conv.CONV if group == 1 else float_depthwise.DEPTHWISE
        return CONV, kernel, CONV_F32, site_of(CONV, made, attributes, (1, 2)), made

    return make


def gemm(rows: int, depth: int, columns: int) -> Callable[[np.random.Generator], Made]:
    def make(rng: np.random.Generator) -> Made:
        made: list[Array | None] = [random(rng, rows, depth), random(rng, depth, columns), random(rng, columns)]
        return GEMM, float_matmul.GEMM, GEMM_WEIGHTS_F32, site_of(GEMM, made, {}, (1, 2)), made

    return make


def product(rows: int, depth: int, columns: int) -> Callable[[np.random.Generator], Made]:
    def make(rng: np.random.Generator) -> Made:
        made: list[Array | None] = [random(rng, rows, depth), random(rng, depth, columns)]
        return MATMUL, float_matmul.MATMUL, MATMUL_F32, site_of(MATMUL, made, {}), made

    return make


def elements(op: str, *shapes: tuple[int, ...], low: float | None = None) -> Callable[[np.random.Generator], Made]:
    def make(rng: np.random.Generator) -> Made:
        made: list[Array | None] = [random(rng, *shape) for shape in shapes]
        operator = next(operator for operator in binary.OPERATORS if operator.name == op)
        portable = next(kernel for kernel in binary.KERNELS if kernel.op == op)
        kernel = next(kernel for kernel in float_elements.KERNELS if kernel.op == op)
        attributes: dict[str, Attribute] = {} if low is None else {"clip_low": low}
        return operator, kernel, portable, site_of(operator, made, attributes), made

    return make


CASES = (
    Case("3x3 padded", conv(16, 8, (4, 8), 3, pad=1), 1.15),
    Case("3x3 padded, every second", conv(16, 8, (7, 9), 3, pad=1, stride=2), 1.1),
    Case("3x3 of three channels, not padded", conv(3, 8, (5, 18), 3), 1.15),
    Case("1x1", conv(32, 16, (4, 8), 1), 1.5),
    Case("depthwise 3x3", conv(4, 4, (6, 10), 3, group=4), 1.3),
    Case("depthwise 3x3 padded", conv(4, 4, (8, 16), 3, pad=1, group=4), 1.7),
    Case("depthwise 5x5 padded", conv(4, 4, (8, 9), 5, pad=2, group=4), 1.2),
    Case("fully connected", gemm(8, 64, 16), 1.5),
    Case("fully connected, one row", gemm(1, 64, 10), 1.2),
    Case("product of computed matrices", product(8, 64, 12), 1.5),
    Case("sum", elements("Add", (1, 16, 8, 8), (1, 16, 8, 8)), 1.8),
    Case("sum and Relu", elements("Add", (1, 16, 8, 8), (1, 16, 8, 8), low=0.0), 1.8),
    Case("product with a row", elements("Mul", (12, 64), (64,)), 1.8, within=0.25),
    Case("product, odd", product(5, 30, 7), 1.2),
)


@pytest.mark.parametrize(
    ("make", "box"),
    [
        (conv(32, 8, (4, 8), 3, pad=1), {"c": (8, 16)}),
        (conv(32, 8, (8, 8), 3, pad=1), {"h": (2, 4), "y": (1, 2)}),
        (conv(32, 8, (4, 8), 3), {"c": (8, 16)}),
        (conv(32, 16, (4, 8), 1), {"c": (8, 16)}),
        (gemm(8, 64, 16), {"k": (16, 32)}),
        (product(8, 64, 12), {"k": (16, 32)}),
    ],
    ids=["3x3 padded", "a row of taps", "3x3", "1x1", "fully connected", "product of computed matrices"],
)
def test_parts_take_what_is_estimated(
    make: Callable[[np.random.Generator], Made],
    box: dict[str, tuple[int, int]],
    tmp_path: Path,
    tool: Callable[[str], str],
) -> None:
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, _, site, inputs = make(np.random.default_rng(5))
    assert kernel.cycles is not None
    layer = layer_of(operator, kernel, site)
    found = run_on_iss(operator, kernel, site, inputs, tmp_path, box, part="middle")
    estimate = kernel.cycles(layer.tile({**layer.whole.box, **box}))
    assert estimate == pytest.approx(found.cycles, rel=0.15)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_inside_the_model_and_as_fast_as_estimated(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, portable, site, inputs = case.make(np.random.default_rng(5))
    assert refusal(kernel, site) is None
    found = run_on_iss(operator, kernel, site, inputs, tmp_path)
    assert result_errors(operator, site, inputs, found.outputs) == []
    assert kernel.cycles is not None
    assert kernel.cycles(layer_of(operator, kernel, site).whole) == pytest.approx(found.cycles, rel=case.within)
    other = run_on_iss(operator, portable, site, inputs, tmp_path)
    assert result_errors(operator, site, inputs, other.outputs) == []
    assert other.cycles >= case.faster * found.cycles
