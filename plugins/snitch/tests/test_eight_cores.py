"""Layers that cores share and copies feed, side by side on the simulated cluster: each as its reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.testing import site_of
from tilewright.config.options import Options
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.convolution.conv import CONV
from tilewright.operators.elementwise import binary, unary
from tilewright.operators.products.gemm import GEMM
from tilewright.operators.products.matmul import MATMUL
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright.operators.reductions import layernorm, softmax
from tilewright.testing.side_by_side import side_by_side
from tilewright_riscv.runners.gvsoc import GvsocRunner

Array = npt.NDArray[np.generic]
Layer = tuple[Site, list[Array | None]]
OPERATORS = {operator.name: operator for family in (unary, softmax, layernorm) for operator in family.OPERATORS}
ADD = next(operator for operator in binary.OPERATORS if operator.name == "Add")
WINDOW: dict[str, Attribute] = {
    "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0,
}  # fmt: skip
RUNNER = GvsocRunner(run_seconds=240.0)


@pytest.fixture(autouse=True)
def _simulated(simulator: Path) -> None:
    assert simulator.exists()


def real(*shape: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def products(rows: int, depth: int, columns: int) -> Layer:
    rng = np.random.default_rng(rows)
    scales = tuple(2.0**-9 / (1 + column) for column in range(columns))
    requant = Requant(scale=scales, zero_point=3, low=-128, high=127)
    attributes: dict[str, Attribute] = {"a_zero_point": -2, "b_zero_point": (0,), "requant": requant}
    inputs: list[Array | None] = [
        rng.integers(-128, 128, (rows, depth)).astype(np.int8),
        rng.integers(-127, 128, (depth, columns)).astype(np.int8),
        rng.integers(-5000, 5000, columns).astype(np.int32),
    ]
    return site_of(QGEMM, inputs, attributes, (1, 2)), inputs


def groups() -> Layer:
    inputs: list[Array | None] = [real(1, 24, 9, 7), real(30, 4, 3, 3), real(30)]
    return site_of(CONV, inputs, {**WINDOW, "group": 6}, (1, 2)), inputs


def floats(op: str, *shapes: tuple[int, ...], **attributes: Attribute) -> Layer:
    inputs: list[Array | None] = [real(*shape) for shape in shapes]
    return site_of(OPERATORS[op], inputs, attributes, tuple(range(1, len(shapes)))), inputs


def halves(
    operator: Operator, dtype: DType, *shapes: tuple[int, ...], constant: bool = True, **attributes: Attribute
) -> Layer:
    inputs: list[Array | None] = [real(*shape).astype(dtype.numpy) for shape in shapes]
    return site_of(operator, inputs, attributes, tuple(range(1, len(shapes))) if constant else ()), inputs


INTEGERS = [products(10, 96, 40), products(37, 64, 24), products(8, 66, 62)]
ROWS = [
    floats("Softmax", (19, 40), axis=1),
    floats("LayerNormalization", (20, 64), (64,), (64,)),
    floats("RMSNormalization", (9, 50), (50,)),
    floats("Sigmoid", (37, 30)),
    floats("Gelu", (5, 66)),
    groups(),
]

HALVES = [
    layer
    for dtype in (DType.F16, DType.BF16)
    for layer in (
        halves(GEMM, dtype, (21, 40), (40, 27), (27,), clip_low=0.0),
        halves(MATMUL, dtype, (2, 9, 24), (24, 18)),
        halves(MATMUL, dtype, (2, 11, 24), (2, 24, 21), constant=False),
        halves(ADD, dtype, (12, 50), (12, 50), constant=False, clip_low=0.0),
        halves(CONV, dtype, (1, 5, 9, 7), (12, 5, 3, 3), (12,), **WINDOW, group=1),
    )
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layers", "cores"),
    [
        pytest.param(INTEGERS, "8", id="integers-8"),
        pytest.param(INTEGERS, "4", id="integers-4"),
        pytest.param(ROWS, "8", id="rows-8"),
        pytest.param(ROWS, "4", id="rows-4", marks=pytest.mark.long),
        pytest.param(HALVES, "8", id="halves-8"),
        pytest.param(HALVES, "4", id="halves-4", marks=pytest.mark.long),
    ],
)
def test_layers_that_cores_share(layers: list[Layer], cores: str, tmp_path: Path) -> None:
    """In 32 KiB; on four cores stacks are far and 12 KiB are left, so that tiles are smaller than layers. Kernels are
    those that whole steps are fastest with: so little work may be quicker without streams.
    """
    size, far = (32 << 10, {}) if cores == "8" else (12 << 10, {"stacks": "l3"})
    many = side_by_side(layers)
    asked = Options(memory={"tcdm": size}, groups=1, settings={"cores": cores, **far})
    fastest = {name: one.kernel.name for name, one in many.deployment("snitch", asked).bound.bindings.items()}
    plan = many.deployment("snitch", replace(asked, pins=Decisions(kernels=fastest)))
    kernels = {plan.scheduled.bound.bindings[node.name].kernel.name for node in many.graph.nodes}
    assert {name for name in kernels if not name.startswith("snitch.")} == set()
    result = many.run(plan, RUNNER, tmp_path / "work", trace=True)
    verdicts = many.judge(plan, result)
    assert len(verdicts) >= len(layers)
    assert [verdict for verdict in verdicts if not verdict.exact] == []
