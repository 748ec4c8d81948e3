"""QLogSoftmax: the reference against big integers and against floats, the C against the reference."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qlogsoftmax import (
    LONGEST,
    QLOG_SOFTMAX,
    QLOG_SOFTMAX_PORTABLE,
    QLOG_SOFTMAX_WIDE,
    exponentials,
    log2_of_sums,
    shift_of,
)
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import byte_array, refusal, site_of

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
BUILDS = (("gcc", *UBSAN), ("gcc", *STRICT, "-O2"), ("clang", *STRICT, "-O2"))
BYTES = st.sampled_from([DType.I8, DType.U8])
scales = st.floats(2.0**-9, 1.0, width=32)


def site_for(x: Array, axis: int, x_scale: float, y_scale: float, zero_point: int = 127) -> Site:
    attributes: dict[str, Attribute] = {
        "axis": axis, "x_scale": x_scale, "y_scale": y_scale, "zero_point": zero_point, "low": -128, "high": 127,
    }  # fmt: skip
    return site_of(QLOG_SOFTMAX, [x], attributes)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.lists(st.integers(1, 12), min_size=1, max_size=3))
    x = byte_array(rng, draw(BYTES), shape, draw(st.booleans()))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    return site_for(x, axis, draw(scales), draw(scales), draw(st.sampled_from([127, 0]))), [x]


@given(case=cases())
def test_reference_is_its_definition(case: Case) -> None:
    site, (x,) = case
    assert x is not None
    node, axis = site.node, site.node.integer("axis")
    length, x_scale, y_scale = x.shape[axis], node.number("x_scale"), node.number("y_scale")
    table, shift = exponentials(x_scale).tolist(), shift_of(length, x_scale, y_scale)
    found = np.moveaxis(QLOG_SOFTMAX.reference(site, [x])[0], axis, -1).reshape(-1, length)
    for row, expected in zip(np.moveaxis(x, axis, -1).reshape(-1, length).tolist(), found.tolist(), strict=True):
        below = [max(row) - value for value in row]
        total, log = sum(table[d] if d < len(table) else 0 for d in below), 0
        while total >= 2**32:
            total, log = total // 2, log + 1
        for _ in range(20):
            total = total * total // 2**31
            log = 2 * log + (total >= 2**32)
            total = total // 2 if total >= 2**32 else total
        part = log * round(math.log(2) / y_scale * 2**shift) // 2**20
        start = (2 * node.integer("zero_point") + 1) * 2**shift // 2
        sums = [start - part - d * round(x_scale / y_scale * 2**shift) for d in below]
        assert max(map(abs, sums)) < 2**31
        assert [min(max(each // 2**shift, -128), 127) for each in sums] == expected


@pytest.mark.parametrize("length", [1, 2, 10, 1000, LONGEST])
@pytest.mark.parametrize("x_scale", [0.004, 0.11, 1.7])
def test_results_are_those_of_real_numbers_but_next_to_halves(length: int, x_scale: float) -> None:
    rng = np.random.default_rng(length)
    rows = [rng.integers(-128, 128, length), np.full(length, 127), np.where(np.arange(length) == 0, 127, -128)]
    x = np.stack(rows).astype(np.int8)
    (found,) = QLOG_SOFTMAX.reference(site_for(x, 1, x_scale, 0.05), [x])
    logits = x.astype(np.float64) * x_scale
    logits -= logits.max(1, keepdims=True)
    real = (logits - np.log(np.exp(logits).sum(1, keepdims=True))) / 0.05 + 127
    assert np.abs(found - np.clip(real, -128, 127)).max() <= 0.5 + 2.0**-9


def test_logarithms_are_exact_of_powers_of_two_and_near_of_others() -> None:
    sums = np.array([2**31, 2**32, 2**46, 3 * 2**30, 2**46 + 12345], np.uint64)
    apart = log2_of_sums(sums) / 2.0**20 - (np.log2(sums.astype(np.float64)) - 31)
    assert apart[:3].tolist() == [0, 0, 0] and np.all((apart <= 0) & (apart > -(2.0**-18)))


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    site, inputs = case
    layouts = {name: tuple(data.draw(st.permutations(range(len(site.output.shape))))) for name in "XY"}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(
            QLOG_SOFTMAX, QLOG_SOFTMAX_PORTABLE, site, inputs, folder=folder, layouts=layouts, flags=build[1:]
        )
    assert np.array_equal(found, QLOG_SOFTMAX.reference(site, inputs)[0])


@pytest.mark.slow
@compiled
@given(case=cases(), data=st.data())
def test_c_in_tiles(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    site, inputs = case
    cuts = {loop.name: data.draw(st.integers(1, 3)) for loop in QLOG_SOFTMAX.access(site).loops}
    folder = tmp_path_factory.mktemp("c")
    (found,) = run_tiled(QLOG_SOFTMAX, QLOG_SOFTMAX_PORTABLE, site, inputs, cuts=cuts, folder=folder)
    assert np.array_equal(found, QLOG_SOFTMAX.reference(site, inputs)[0])


def test_what_is_refused() -> None:
    x = np.zeros((2, 3), np.int8)
    assert refusal(QLOG_SOFTMAX_PORTABLE, site_for(x, 1, 0.1, 0.1)) is None
    assert "too far apart" in str(refusal(QLOG_SOFTMAX_PORTABLE, site_for(x, 1, 1000.0, 1e-4)))
    long = np.zeros((1, LONGEST + 1), np.int8)
    assert "elements" in str(refusal(QLOG_SOFTMAX_PORTABLE, site_for(long, 1, 0.1, 0.1)))
    with pytest.raises(TilewrightError, match="not an axis"):
        site_for(x, 2, 0.1, 0.1)


@st.composite
def wide_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.lists(st.integers(1, 12), min_size=1, max_size=3))
    x_type, y_type = draw(st.sampled_from([("i16", "i16"), ("u16", "u16"), ("i16", "i8"), ("i8", "i16")]))
    x = byte_array(rng, DType(x_type), shape, draw(st.booleans()))
    low, high = DType(y_type).limits
    attributes: dict[str, Attribute] = {
        "axis": draw(st.integers(-len(shape), len(shape) - 1)), "x_scale": draw(st.sampled_from([2e-4, 3e-3, 0.04])),
        "y_scale": 0.06 if y_type == "i8" else draw(st.sampled_from([2.0**-12, 4e-4])), "zero_point": high,
        "low": low, "high": high, "output_type": y_type,
    }  # fmt: skip
    return site_of(QLOG_SOFTMAX, [x], attributes), [x]


@given(case=wide_cases())
def test_results_of_16_bits_are_those_of_real_numbers_but_next_to_halves(case: Case) -> None:
    site, (x,) = case
    node, axis = site.node, site.node.integer("axis")
    logits = np.asarray(x).astype(np.float64) * node.number("x_scale")
    logits -= logits.max(axis, keepdims=True)
    real = (logits - np.log(np.exp(logits).sum(axis, keepdims=True))) / node.number("y_scale") + node.integer("high")
    (found,) = QLOG_SOFTMAX.reference(site, [x])
    assert np.abs(found - np.clip(real, node.integer("low"), node.integer("high"))).max() <= 0.5 + 2.0**-5


@pytest.mark.slow
@compiled
@given(case=wide_cases(), data=st.data(), build=st.sampled_from(BUILDS))
def test_c_of_16_bits_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject, build: tuple[str, ...]
) -> None:
    site, inputs = case
    assert refusal(QLOG_SOFTMAX_WIDE, site) is None and refusal(QLOG_SOFTMAX_PORTABLE, site) is not None
    rank = len(site.output.shape)
    layouts = {name: tuple(data.draw(st.permutations(range(rank)))) for name in "XY"}
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", build[0])
        (found,) = run_kernel(
            QLOG_SOFTMAX, QLOG_SOFTMAX_WIDE, site, inputs, folder=folder, layouts=layouts, flags=build[1:]
        )
    assert np.array_equal(found, QLOG_SOFTMAX.reference(site, inputs)[0])
