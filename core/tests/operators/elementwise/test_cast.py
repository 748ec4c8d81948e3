"""Cast: every pair of types in C against the reference, and the rules for floats that do not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.elementwise.cast import BIT_CAST, BIT_CAST_PORTABLE, CAST, CAST_PORTABLE, convert
from tilewright.testing.kernels.kernel_checks import kernel_errors, random_cuts, random_layouts
from tilewright.testing.kernels.kernel_run import Trial, outcomes, whole_trial
from tilewright.testing.kernels.kernel_tiles import tiled_trial
from tilewright.testing.operator_sites import refusal, result_errors, site_of

TYPES = [dtype for dtype in DType if dtype is not DType.F64]
INTEGERS = [dtype for dtype in TYPES if dtype.is_integer]


def values(dtype: DType) -> np.ndarray:
    if dtype is DType.BOOL:
        return np.array([[False, True, True]])
    if dtype.is_integer:
        low, high = dtype.limits
        numbers = [low, low + 1, low // 2, 0, 1, 2, 100, high // 2, high - 1, high, (1 << 24) + 1]
        return np.array([[number for number in numbers if number <= high]], dtype.numpy)
    edges = [2.0**bits for bits in (7, 8, 15, 16, 24, 31, 32, 63, 64, 100)]
    near = [np.nextafter(np.float32(edge), np.float32(side)) for edge in edges for side in (0, np.inf)]
    numbers = [0.0, 0.5, 0.999, 1.5, 2.5, 127.9, 1e-40, np.inf, np.nan, *edges, *near]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([numbers, [-number for number in numbers]], np.float32).astype(dtype.numpy)


@pytest.mark.parametrize("source", TYPES, ids=lambda dtype: dtype.value)
def test_c_equals_reference(source: DType, tmp_path: Path) -> None:
    """Whole and in tiles of random size, in random layouts; all targets in one library."""
    x = values(source)
    sites = {target: site_of(CAST, [x], {"to": target.value}) for target in TYPES}
    trials: list[Trial] = []
    for seed, site in enumerate(sites.values()):
        random = np.random.default_rng(seed)
        layouts = random_layouts(CAST, site, random)
        layer = layer_of(CAST, CAST_PORTABLE, site)
        trials.append(whole_trial(CAST, CAST_PORTABLE, site, [x], layouts=layouts))
        trials.append(tiled_trial(layer, [x], cuts=random_cuts(layer.access, random), layouts=layouts))
    found = outcomes(trials, tmp_path)
    assert len(found) == 2 * len(TYPES)
    for number, (target, site) in enumerate(sites.items()):
        for outputs in found[2 * number : 2 * number + 2]:
            assert result_errors(CAST, site, [x], outputs) == [], target


@pytest.mark.parametrize("target", INTEGERS, ids=lambda dtype: dtype.value)
def test_floats_lose_their_fraction_and_saturate(target: DType) -> None:
    low, high = target.limits
    for x in values(DType.F32).reshape(-1).tolist():
        exact = 0 if np.isnan(x) else (low if x < low else high if x > high else int(x))
        assert int(convert(np.array(x, np.float32), target)) == exact, x


def test_integers_wrap_and_only_zero_is_false() -> None:
    assert convert(np.array([300, -1], np.int32), DType.U8).tolist() == [44, 255]
    assert convert(np.array([0.0, -0.0, np.nan, 1e-45], np.float32), DType.BOOL).tolist() == [False, False, True, True]


def test_doubles_become_float32_and_no_integers() -> None:
    site = site_of(CAST, [np.zeros(2)], {"to": "f32"})
    assert refusal(CAST_PORTABLE, site) is None
    assert CAST.reference(site, [np.array([0.1, 1e300])])[0].dtype == np.float32
    assert "f64" in str(refusal(CAST_PORTABLE, site_of(CAST, [np.zeros(2)], {"to": "i32"})))
    assert refusal(CAST_PORTABLE, site_of(CAST, [np.zeros(2, np.int8)], {"to": "f64"})) is None


PAIRS = [("float32", "i32"), ("float32", "u32"), ("int32", "f32"), ("uint32", "f32"), ("int8", "u8"), ("bool", "i8"),
         ("uint16", "i16"), ("int64", "u64"), ("float32", "f32")]  # fmt: skip


@pytest.mark.parametrize(("dtype", "to"), PAIRS)
def test_any_layout_and_tile(dtype: str, to: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    size = np.dtype(dtype).itemsize
    x = random.integers(0, 2 if dtype == "bool" else 256, (3, 5 * size)).astype(np.uint8).view(dtype)
    if dtype == "float32":
        x.reshape(-1)[:4] = [np.nan, np.inf, -0.0, 1e-45]
    site = site_of(BIT_CAST, [x], {"to": to})
    assert kernel_errors(BIT_CAST, BIT_CAST_PORTABLE, site, [x], random, tmp_path) == []


@pytest.mark.parametrize(("dtype", "to"), [("float32", "i16"), ("uint8", "bool")])
def test_types_that_do_not_fit(dtype: str, to: str) -> None:
    with pytest.raises(TilewrightError, match="bit by bit"):
        site_of(BIT_CAST, [np.zeros(4, dtype)], {"to": to})


def test_doubles_are_for_constants_alone() -> None:
    assert "f64" in str(refusal(BIT_CAST_PORTABLE, site_of(BIT_CAST, [np.zeros(4, np.float64)], {"to": "i64"})))
