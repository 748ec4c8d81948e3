"""Add, Sub, Mul, Div, Max, Min: the C against the reference in any layout, the reference against exact arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.elementwise.binary import KERNELS, MOD, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import refusal, site_of, window_errors

compiled = settings.get_profile("programs")
BY_NAME = {operator.name: (operator, kernel) for operator, kernel in zip(OPERATORS, KERNELS, strict=True)}
ARITHMETIC = sorted({*BY_NAME} - {"Mod"})
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def array(random: np.random.Generator, shape: list[int], dtype: str) -> np.ndarray:
    """Small values, zeros, and the ends of the type."""
    if dtype == "float32":
        special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-42, 3e38], np.float32)
        values = random.standard_normal(shape).astype(dtype)
        return np.where(random.random(shape) < 0.2, random.choice(special, shape), values)
    info = np.iinfo(dtype)
    small = random.integers(max(info.min, -4), 5, shape).astype(dtype)
    ends = random.choice(np.array([info.min, info.max], dtype), shape)
    return np.where(random.random(shape) < 0.3, ends, small)


@pytest.mark.parametrize("name", ["Add", "Sub", "Mul", "Div"])
def test_float64_is_exact(name: str, tmp_path: Path) -> None:
    operator, kernel = BY_NAME[name]
    random = np.random.default_rng(2)
    inputs = [random.standard_normal((3, 4)), random.standard_normal((4,))]
    site = site_of(operator, inputs)
    assert kernel_errors(operator, kernel, site, inputs, random, tmp_path) == []
    assert operator.tolerance is None or operator.tolerance(site, inputs) == (None,)


@pytest.mark.slow
@compiled
@given(
    name=st.sampled_from(ARITHMETIC),
    dtype=st.sampled_from(["float32", "float32", *INTEGERS]),
    rank=st.integers(0, 5),
    seed=st.integers(0, 2**32),
)
def test_c_equals_reference(name: str, dtype: str, rank: int, seed: int, tmp_path: Path) -> None:
    operator, kernel = BY_NAME[name]
    random = np.random.default_rng(seed)
    extents = [int(extent) for extent in random.integers(1, 5, rank)]
    shapes = [[1 if random.integers(4) == 0 else extent for extent in extents] for _ in "AB"]
    shapes[1] = shapes[1][random.integers(rank + 1) :]
    if random.integers(2):
        shapes.reverse()
    inputs = [array(random, shape, dtype) for shape in shapes]
    attributes = {"clip_low": -0.5, "clip_high": 1.0} if dtype == "float32" and random.integers(2) else {}
    site = site_of(operator, inputs, attributes)
    assert kernel_errors(operator, kernel, site, inputs, random, tmp_path) == []


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_truncates_wraps_and_gives_zero_for_zero(dtype: str) -> None:
    info = np.iinfo(dtype)
    values = [v for v in (info.min, info.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, info.max) if v >= info.min]
    a, b = (part.reshape(-1) for part in np.meshgrid(np.array(values, dtype), np.array(values, dtype)))
    operator, _ = BY_NAME["Div"]
    (found,) = operator.reference(site_of(operator, [a, b]), [a, b])
    for x, y, quotient in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        exact = 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        assert quotient == int(np.array(exact).astype(dtype)), (x, y)


@pytest.mark.parametrize(("name", "wanted"), [("Add", 300 - 256), ("Sub", -256 + 256), ("Mul", 0)])
def test_integers_wrap(name: str, wanted: int) -> None:
    operator, _ = BY_NAME[name]
    a, b = {"Add": (200, 100), "Sub": (0, 0), "Mul": (16, 16)}[name]
    arrays = [np.array([a], np.uint8), np.array([b], np.uint8)]
    assert operator.reference(site_of(operator, arrays), arrays)[0].tolist() == [wanted]


def test_everything_contiguous_is_one_loop(tmp_path: Path) -> None:
    operator, kernel = BY_NAME["Add"]
    inputs = [np.ones((2, 3, 4, 5), np.float32)] * 2
    layouts = dict.fromkeys(("A", "B", "Y"), (0, 2, 3, 1))
    run_kernel(operator, kernel, site_of(operator, inputs), inputs, folder=tmp_path, layouts=layouts)
    text = (tmp_path / "kernel.c").read_text()
    assert text.count("for (") == 1
    assert "tw_add_f32_1(120, " in text


def test_windows_are_right() -> None:
    operator, _ = BY_NAME["Mul"]
    site = site_of(operator, [np.ones((2, 1, 3), np.float32), np.ones((4, 1), np.float32)])
    access = operator.access(site)
    for low in range(4):
        box = {loop.name: (0, loop.extent) for loop in access.loops}
        box[access.loops[1].name] = (low, low + 1)
        assert window_errors(access, box) == []


def test_in_place_only_where_an_input_is_as_large_as_the_output() -> None:
    operator, kernel = BY_NAME["Add"]
    site = site_of(operator, [np.ones((2, 1), np.float32), np.ones((2, 3), np.float32)])
    assert layer_of(operator, kernel, site).in_place == (("B", "Y"),)


def test_refusals() -> None:
    operator, kernel = BY_NAME["Div"]
    arrays = [np.ones(2, np.int32), np.array([1, 0], np.int32)]
    assert "holds a zero" in str(refusal(kernel, site_of(operator, arrays, constants=[1])))
    assert refusal(kernel, site_of(operator, arrays)) is None
    assert refusal(kernel, site_of(operator, [np.ones(2), np.ones(2)])) is None
    largest, portable = BY_NAME["Max"]
    assert "f64" in str(refusal(portable, site_of(largest, [np.ones(2), np.ones(2)])))
    with pytest.raises(TilewrightError, match="TW1310"):
        site_of(operator, [np.ones(2, np.int32), np.ones(3, np.int32)])
    with pytest.raises(TilewrightError, match="one type"):
        site_of(operator, [np.ones(2, np.int32), np.ones(2, np.float32)])
    assert DType.F64 is site_of(operator, [np.ones(2), np.ones(2)]).output.dtype


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers(dtype: str, fmod: int, tmp_path: Path) -> None:
    info = np.iinfo(dtype)
    some = [info.min, max(info.min, -7), 0, 1, 3, 7, info.max, *([-1] if info.min else [])]
    inputs = [np.array(some, dtype).reshape(-1, 1), np.array(some, dtype)]
    site = site_of(MOD, inputs, {"fmod": fmod})
    assert kernel_errors(MOD, KERNELS[-1], site, inputs, np.random.default_rng(fmod), tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("fmod", [0, 1])
def test_floats_are_exact(fmod: int, tmp_path: Path) -> None:
    bits = np.random.default_rng(5).integers(0, 2**32, 400, dtype=np.uint64).astype(np.uint32).view(np.float32)
    edges = [0, -0.0, np.inf, -np.inf, np.nan, 2.0**-149, -(2.0**-126), 1, -1, 0.3, 3.4e38, -3.4e38, 7.5, -2.5]
    some = np.concatenate([bits, np.array(edges, np.float32)])
    inputs = [some.reshape(-1, 1), some]
    site = site_of(MOD, inputs, {"fmod": fmod})
    assert kernel_errors(MOD, KERNELS[-1], site, inputs, np.random.default_rng(fmod), tmp_path) == []
