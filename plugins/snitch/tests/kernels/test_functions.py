"""Functions of floats, softmax and normalisation: inside the error model here and on the simulated core, in any tile,
as fast as estimated, faster than portable C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api.testing import kernel_errors, result_errors, site_of
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.elementwise import unary
from tilewright.operators.reductions import layernorm, softmax
from tilewright_snitch.kernels.functions import KERNELS

Array = npt.NDArray[np.generic]
_FAMILIES = (unary, softmax, layernorm)
OPERATORS = {operator.name: operator for family in _FAMILIES for operator in family.OPERATORS}
PORTABLE = {kernel.op: kernel for family in _FAMILIES for kernel in family.KERNELS}
OWN = {kernel.op: kernel for kernel in KERNELS}
HARD = (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0**-149, -(2.0**-130), 3.4e38, -3.4e38, 88.8, -103.9, 3.9, 1e-9)


@dataclass(frozen=True)
class Case:
    """A layer, and at least how many times faster than portable C it is."""

    op: str
    faster: float
    shapes: tuple[tuple[int, ...], ...] = ((4, 64),)
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.op} {' '.join('x'.join(map(str, shape)) for shape in self.shapes)}"


CASES = (
    Case("Softmax", 4.5, attributes={"axis": 1}),
    Case("Softmax", 5.0, ((1, 256),), {"axis": 1}),
    Case("Softmax", 2.5, ((8, 10),), {"axis": 1}),
    Case("Softmax", 3.0, ((32, 4),), {"axis": 0}),
    Case("LogSoftmax", 4.5, attributes={"axis": 1}),
    Case("LayerNormalization", 4.5, ((4, 64), (64,), (64,))),
    Case("LayerNormalization", 8.0, ((1, 512), (512,), (512,))),
    Case("LayerNormalization", 2.5, ((6, 15),)),
    Case("RMSNormalization", 5.0, ((4, 64), (64,))),
    Case("RMSNormalization", 2.0, ((5, 33), (33,))),
    Case("LeakyRelu", 3.5),
    Case("HardSigmoid", 7.0),
    Case("HardSwish", 3.0),
    Case("Abs", 3.0),
    Case("Neg", 6.0),
    Case("Reciprocal", 1.1),
    Case("Sqrt", 15),
    Case("Exp", 3.5),
    Case("Sigmoid", 3.5),
    Case("Sigmoid", 3.0, ((1, 37),)),
    Case("Swish", 3.5),
    Case("GeluTanh", 3.5),
    Case("Tanh", 3.5),
    Case("Erf", 5.0),
    Case("Gelu", 3.5),
    Case("Gelu", 3.0, ((1, 37),)),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_inside_the_model_and_as_fast_as_estimated(case: Case, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(5)
    inputs: list[Array | None] = [np.asarray(rng.standard_normal(shape), np.float32) for shape in case.shapes]
    operator, kernel = OPERATORS[case.op], OWN[case.op]
    if case.op == "Sqrt":
        inputs = [np.abs(np.asarray(inputs[0]))]
    site = site_of(operator, inputs, case.attributes)
    found = run_on_iss(operator, kernel, site, inputs, tmp_path)
    assert result_errors(operator, site, inputs, found.outputs) == []
    on_gvsoc = run_on_iss(operator, kernel, site, inputs, tmp_path, timing=GVSOC)
    assert kernel.cycles is not None
    assert kernel.cycles(layer_of(operator, kernel, site).whole) == pytest.approx(on_gvsoc.cycles, rel=0.15)
    other = run_on_iss(operator, PORTABLE[case.op], site, inputs, tmp_path)
    assert other.cycles >= case.faster * found.cycles


@pytest.mark.slow
@pytest.mark.parametrize("op", sorted(OWN))
def test_hard_values(op: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Rows long enough for streams, and rows that are not, with NaN, infinities and numbers below the normal range."""
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(9)
    operator, kernel = OPERATORS[op], OWN[op]
    x = np.asarray(rng.standard_normal((6, 42)) * 20, np.float32)
    x[1, :14], x[2, :6], x[3, -10:] = HARD, HARD[:6], rng.permutation(HARD[4:])
    x[4], x[4, 0] = -np.linspace(80, 110, 42), 0.0
    if "Softmax" in op:
        x[5, 3:37] = -np.inf
    if "Norm" in op:
        x = np.where(np.abs(x) < 1e6, x, np.nan).astype(np.float32)
    for made in (x, x[:, :7].copy()):
        site = site_of(operator, [made], {"axis": 1} if "Softmax" in op else {})
        with np.errstate(all="ignore"):
            found = run_on_iss(operator, kernel, site, [made], tmp_path)
            assert result_errors(operator, site, [made], found.outputs) == []


@pytest.mark.slow
@pytest.mark.parametrize("op", ["Exp", "Sigmoid", "Tanh", "Erf", "Gelu", "GeluTanh", "Swish"])
def test_accuracy(op: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Where the functions bend, and bits at random."""
    tool("riscv64-unknown-elf-gcc")
    bits = np.random.default_rng(7).integers(0, 2**32, 400, dtype=np.uint64).astype(np.uint32)
    x = np.concatenate([np.linspace(-110, 110, 801, dtype="f4"), np.linspace(-5, 5, 799, dtype="f4"), bits.view("f4")])
    site = site_of(OPERATORS[op], [x], {})
    with np.errstate(all="ignore"):
        found = run_on_iss(OPERATORS[op], OWN[op], site, [x], tmp_path)
        assert result_errors(OPERATORS[op], site, [x], found.outputs) == []


@pytest.mark.slow
@pytest.mark.parametrize("op", sorted(OWN))
def test_without_the_instructions_in_any_layout_and_tile(op: str, tmp_path: Path) -> None:
    x = np.random.default_rng(3).standard_normal((2, 3, 5)).astype(np.float32)
    if "Norm" not in op and "Softmax" not in op:
        x.flat[:3] = np.nan, 1e30, -np.inf
    inputs: list[Array | None] = [x]
    if "Norm" in op:
        inputs += [np.linspace(-1, 1, 5, dtype=np.float32)] * (len(OPERATORS[op].inputs) - 1)
    site = site_of(OPERATORS[op], inputs, {"axis": 1} if "Softmax" in op else {})
    with np.errstate(all="ignore"):
        assert kernel_errors(OPERATORS[op], OWN[op], site, inputs, np.random.default_rng(len(op)), tmp_path) == []


@pytest.mark.parametrize("low", [0, 1, 3])
def test_tiles_on_the_core(low: int, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Rows of which every second begins between two elements of a stream."""
    tool("riscv64-unknown-elf-gcc")
    inputs: list[Array | None] = [np.random.default_rng(1).standard_normal((5, 45)).astype(np.float32)]
    site, box = site_of(OPERATORS["LayerNormalization"], inputs, {}), {"i0": (low, 5)}
    kernel, operator = OWN["LayerNormalization"], OPERATORS["LayerNormalization"]
    found = run_on_iss(operator, kernel, site, inputs, tmp_path, box)
    part: list[Array | None] = [np.asarray(inputs[0])[low:]]
    assert result_errors(operator, site_of(operator, part, {}), part, found.outputs) == []
