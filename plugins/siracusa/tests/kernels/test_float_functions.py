"""Functions of floats on the cluster, in the portable form of their instructions: inside the error model for any float,
any layout, any tile, and rows of any length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.api.testing import UBSAN, kernel_errors, refusal, result_errors, run_kernel, site_of
from tilewright.ir.graphs.graph import Attribute
from tilewright.operators.elementwise import binary, clip, unary
from tilewright.operators.reductions import layernorm, softmax
from tilewright_riscv.floats.functions import UNARY as PROGRAMS
from tilewright_siracusa.kernels import float_elements, float_functions

Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float32]
OPERATORS = {
    operator.name: operator
    for operator in (
        *unary.OPERATORS, *softmax.OPERATORS, *layernorm.OPERATORS, *binary.OPERATORS, *clip.OPERATORS,
    )
}  # fmt: skip
KERNELS = {kernel.op: kernel for kernel in (*float_functions.KERNELS, *float_elements.KERNELS)}
ATTRIBUTES: dict[str, list[dict[str, Attribute]]] = {
    "Clip": [{"min": 0.0}, {"min": -1.5, "max": 6.0}, {"max": -2.0}, {"min": 3.0, "max": 1.0}],
    "LeakyRelu": [{}, {"alpha": -0.5}, {"alpha": 2.0}],
    "HardSigmoid": [{}, {"alpha": 1.5, "beta": -0.25}],
    "Swish": [{}, {"alpha": 1.702}, {"alpha": 0.5}, {"alpha": 30.0}],
}
FUNCTIONS = [*PROGRAMS, "Gelu"]
UNARY = [(op, attributes) for op in FUNCTIONS for attributes in ATTRIBUTES.get(op, [{}])]
EDGES = [
    *(0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 2.0**-149, -(2.0**-149), 2.0**-126, 1, -1, 2.0**127, 3.4e38, -3.4e38),
    *(88.7, 88.8, -87.4, -103.9, -104.1, 104, 14.5, -14.5, 3.9, -3.9, 9.99, 10.1, 0.3465, -0.3466, 1e10, -1e10),
]
compiled: Any = settings.get_profile("programs")


def samples() -> Floats:
    bits = np.random.default_rng(7).integers(0, 2**32, 60_000, dtype=np.uint64).astype(np.uint32)
    wide, narrow = np.linspace(-120, 120, 60_001), np.linspace(-3, 3, 60_001)
    return np.concatenate([bits.view(np.float32), wide.astype("f4"), narrow.astype("f4"), np.array(EDGES, np.float32)])


@pytest.mark.parametrize(("op", "attributes"), UNARY)
def test_accuracy(op: str, attributes: dict[str, Attribute], tmp_path: Path) -> None:
    x = samples()
    site = site_of(OPERATORS[op], [x], attributes)
    assert refusal(KERNELS[op], site) is None
    with np.errstate(all="ignore"):
        found = run_kernel(OPERATORS[op], KERNELS[op], site, [x], folder=tmp_path, flags=UBSAN)
        assert result_errors(OPERATORS[op], site, [x], found) == []


@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions_in_any_layout_and_tile(op: str, tmp_path: Path) -> None:
    x = np.random.default_rng(3).standard_normal((2, 3, 5)).astype(np.float32)
    x.flat[:3] = np.nan, 1e30, -np.inf
    site = site_of(OPERATORS[op], [x], ATTRIBUTES.get(op, [{}])[-1])
    with np.errstate(all="ignore"):
        assert kernel_errors(OPERATORS[op], KERNELS[op], site, [x], np.random.default_rng(len(op)), tmp_path) == []


@compiled
@given(
    op=st.sampled_from(["Softmax", "LogSoftmax"]),
    shape=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    spread=st.sampled_from([0.1, 3, 60, 1e37]),
    data=st.data(),
)
def test_softmax(op: str, shape: list[int], spread: float, data: Any, tmp_path_factory: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x = (rng.standard_normal(shape) * spread).astype(np.float32)
    if data.draw(st.booleans()):
        x.flat[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf, -3.4e38])
    site = site_of(OPERATORS[op], [x], {"axis": data.draw(st.integers(0, len(shape) - 1))})
    with np.errstate(all="ignore"):
        assert kernel_errors(OPERATORS[op], KERNELS[op], site, [x], rng, tmp_path_factory.mktemp("c")) == []


def rows() -> Floats:
    """Nine elements each: masks, infinities, NaN, results below the normal range, sums beyond the largest float."""
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((11, 9)) * 3).astype(np.float32)
    x[0, 3], x[1, :], x[2, 3:6], x[3, 4], x[4] = np.nan, -np.inf, -np.inf, np.inf, x[4] * 1e30
    x[5, :2], x[6, 1:] = (-3.4e38, 3.4e38), -np.linspace(86, 104, 8)
    x[7, 1:], x[8], x[9, 0] = -200, 3.3e38, -np.nan
    x[8, 5] = -np.inf
    return x


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
def test_rows_that_are_hard(op: str, tmp_path: Path) -> None:
    x = rows()
    for length in (1, 2, 4, 9):
        part = np.ascontiguousarray(x[:, :length])
        site = site_of(OPERATORS[op], [part], {"axis": 1})
        with np.errstate(all="ignore"):
            found = run_kernel(OPERATORS[op], KERNELS[op], site, [part], folder=tmp_path, flags=UBSAN)
            assert result_errors(OPERATORS[op], site, [part], found) == []
    assert np.isnan(found[0][[0, 1, 3, 9]]).all() and not np.isnan(found[0][[2, 4, 5, 6, 7, 8, 10]]).any()


@compiled
@given(
    op=st.sampled_from(["LayerNormalization", "RMSNormalization"]),
    shape=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    given_parts=st.tuples(st.booleans(), st.booleans()),
    scale=st.sampled_from([(1e-3, 0), (1, 5), (1, 1000), (60, 0), (1e-30, 0)]),
    seed=st.integers(0, 2**32),
)
def test_normalisations(
    op: str, shape: list[int], given_parts: tuple[bool, bool], scale: tuple[float, float], seed: int,
    tmp_path_factory: Any,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    inputs: list[Array | None] = [(rng.standard_normal(shape) * scale[0] + scale[1]).astype(np.float32)]
    inputs += [rng.standard_normal(shape[-1]).astype(np.float32) if has else None for has in given_parts]
    inputs = inputs[: len(OPERATORS[op].inputs)]
    site = site_of(OPERATORS[op], inputs, {"epsilon": 1e-5})
    assert kernel_errors(OPERATORS[op], KERNELS[op], site, inputs, rng, tmp_path_factory.mktemp("c")) == []


@pytest.mark.parametrize("op", ["LayerNormalization", "RMSNormalization"])
def test_normalised_rows_keep_what_is_not_a_number(op: str, tmp_path: Path) -> None:
    x = np.random.default_rng(2).standard_normal((4, 7)).astype(np.float32)
    x[0, 2], x[1, 6], x[2] = np.nan, np.inf, 0.0
    site = site_of(OPERATORS[op], [x], {"epsilon": 0.0})
    with np.errstate(all="ignore"):
        found = run_kernel(OPERATORS[op], KERNELS[op], site, [x], folder=tmp_path, flags=UBSAN)
        assert result_errors(OPERATORS[op], site, [x], found) == []
    assert np.isnan(found[0][0]).all() and np.isnan(found[0][2]).all() and np.isfinite(found[0][3]).all()


def test_refusals_say_why() -> None:
    whole = np.zeros((2, 3), np.int8)
    assert "must be f32" in str(refusal(KERNELS["Clip"], site_of(OPERATORS["Clip"], [whole])))
    floats = whole.astype(np.float32)
    assert "not between" in str(refusal(KERNELS["Swish"], site_of(OPERATORS["Swish"], [floats], {"alpha": -1.0})))
