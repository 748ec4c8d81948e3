"""Functions of floats on the simulated core: inside the error model, as fast as estimated, faster than portable C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from iss_run import run_on_iss

from tilewright.api.testing import result_errors, site_of
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.elementwise import binary, clip, unary
from tilewright.operators.reductions import layernorm, softmax
from tilewright_siracusa.kernels import float_elements, float_functions

Array = npt.NDArray[np.generic]
_FAMILIES = (unary, softmax, layernorm, binary, clip)
OPERATORS = {operator.name: operator for family in _FAMILIES for operator in family.OPERATORS}
PORTABLE = {kernel.op: kernel for family in _FAMILIES for kernel in family.KERNELS}
KERNELS = {kernel.op: kernel for kernel in (*float_functions.KERNELS, *float_elements.KERNELS)}
HARD = (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0**-149, -(2.0**-130), 3.4e38, -3.4e38, 88.8, -103.9, 3.9, 1e-9)


@dataclass(frozen=True)
class Case:
    """A layer, and at least how many times faster than portable C it is."""

    op: str
    faster: float
    shapes: tuple[tuple[int, ...], ...] = ((8, 64),)
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.op} {' '.join('x'.join(map(str, shape)) for shape in self.shapes)} {dict(self.attributes)}"


CASES = (
    Case("Softmax", 3.5, attributes={"axis": 1}),
    Case("Softmax", 2.0, ((8, 7),), {"axis": 1}),
    Case("Softmax", 2.5, ((64, 4),), {"axis": 0}),
    Case("LogSoftmax", 3.3, attributes={"axis": 1}),
    Case("LogSoftmax", 2.2, ((8, 10),), {"axis": 1}),
    Case("LayerNormalization", 2.7, ((8, 64), (64,), (64,))),
    Case("LayerNormalization", 3.0, ((6, 33),)),
    Case("RMSNormalization", 2.4, ((8, 64), (64,))),
    Case("Clip", 1.9, attributes={"min": 0.0}),
    Case("Clip", 1.7, ((5, 11),), {"min": 0.0, "max": 6.0}),
    Case("LeakyRelu", 1.5),
    Case("HardSigmoid", 2.4),
    Case("HardSwish", 2.0),
    Case("Abs", 3.4),
    Case("Neg", 2.4),
    Case("Reciprocal", 1.2),
    Case("Sqrt", 20),
    Case("Exp", 2.8),
    Case("Sigmoid", 3.0),
    Case("Swish", 3.0),
    Case("GeluTanh", 2.9),
    Case("Tanh", 3.0),
    Case("Tanh", 2.7, ((1, 33),)),
    Case("Erf", 4.4),
    Case("Gelu", 3.2),
    Case("Gelu", 3.0, ((1, 37),)),
    Case("Add", 2.4, ((8, 64), (8, 64))),
    Case("Add", 2.3, ((8, 64), (8, 64)), {"clip_low": 0.0}),
    Case("Sub", 2.0, ((8, 64), (64,))),
    Case("Mul", 2.1, ((8, 64), ())),
    Case("Div", 0.9, ((8, 64), (8, 64))),  # one core has a divider of its own
    Case("Div", 0.7, ((8, 64), (8, 1))),  # a step of 0
    Case("Div", 1.3, ((8, 64), (8, 64)), {"clip_low": -1.0, "clip_high": 1.0}),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_inside_the_model_and_as_fast_as_estimated(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(5)
    inputs: list[Array | None] = [np.asarray(rng.standard_normal(shape), np.float32) for shape in case.shapes]
    operator, kernel = OPERATORS[case.op], KERNELS[case.op]
    if case.op == "Sqrt":
        inputs = [np.abs(np.asarray(inputs[0]))]
    site = site_of(operator, inputs, case.attributes)
    assert kernel.cycles is not None
    found = run_on_iss(operator, kernel, site, inputs, tmp_path)
    assert result_errors(operator, site, inputs, found.outputs) == []
    assert kernel.cycles(layer_of(operator, kernel, site).whole) == pytest.approx(found.cycles, rel=0.15)
    other = run_on_iss(operator, PORTABLE[case.op], site, inputs, tmp_path)
    assert other.cycles >= case.faster * found.cycles


@pytest.mark.parametrize("op", sorted(KERNELS))
def test_hard_values(op: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Rows in which all is finite, and rows with NaN, infinities and numbers below the normal range."""
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(9)
    operator, kernel = OPERATORS[op], KERNELS[op]
    x = np.asarray(rng.standard_normal((6, 14)) * 20, np.float32)
    x[1], x[2, :6], x[3] = HARD, HARD[:6], rng.permutation(HARD[4:]).tolist() + [1.0] * 4
    x[4] = -np.linspace(80, 110, 14)
    x[4, 0] = 0.0
    if op in ("Softmax", "LogSoftmax"):
        x[5, 3:7] = -np.inf
    shaped = [x.reshape(3, 28)] if op in ("Softmax", "LogSoftmax") else []
    for made in (x, x[:, :3].copy(), *shaped):
        inputs: list[Array | None] = [made] if len(operator.inputs) == 1 or "Norm" in op else [made, made[::-1].copy()]
        site = site_of(operator, inputs, {"axis": 1} if "Softmax" in op else {"min": -1.0, "max": 2.0, "clip_low": 0.0})
        with np.errstate(all="ignore"):
            usual = made if "Norm" not in op else np.where(np.abs(made) < 1e6, made, np.nan).astype(np.float32)
            inputs[0] = usual
            found = run_on_iss(operator, kernel, site, inputs, tmp_path)
            assert result_errors(operator, site, inputs, found.outputs) == []
