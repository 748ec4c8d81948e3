"""LayerNormalization and its kin: access, C against the references in any layout and in tiles, imports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.operators.reductions.layernorm import KERNELS, LAYER_NORMALIZATION, RMS_NORMALIZATION
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright.testing.operator_sites import result_errors, site_of, window_errors

Floats = npt.NDArray[np.float32]
Case = tuple[Operator, Site, list[Floats | None]]
KERNEL_OF = {kernel.op: kernel for kernel in KERNELS}
compiled = settings.get_profile("programs")


@st.composite
def sites(draw: st.DrawFn) -> Case:
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = (random.standard_normal(shape) * draw(st.sampled_from([1e-3, 1, 60])) + draw(st.sampled_from([0, 5]))).astype(
        "f4"
    )
    operator = draw(st.sampled_from([LAYER_NORMALIZATION, RMS_NORMALIZATION]))
    inputs: list[Floats | None] = [x, random.standard_normal(shape[-1]).astype("f4") if draw(st.booleans()) else None]
    if operator is LAYER_NORMALIZATION:
        inputs.append(random.standard_normal(shape[-1]).astype("f4") if draw(st.booleans()) else None)
    return operator, site_of(operator, inputs, {"epsilon": draw(st.sampled_from([1e-5, 1e-2]))}), inputs


@pytest.mark.parametrize("operator", [LAYER_NORMALIZATION, RMS_NORMALIZATION])
def test_rows_whose_sums_leave_the_type_may_be_anything(operator: Operator, tmp_path: Path) -> None:
    """Squares of 3e38 are infinite in C; infinite and ordinary rows are as strict as ever."""
    x = np.array([[3e38, -3e38, 1], [1, 2, 4], [np.inf, 1, 2], [np.nan, 0, 1]], np.float32)
    site = site_of(operator, [x], {"epsilon": 1e-5})
    (found,) = run_kernel(operator, KERNEL_OF[operator.name], site, [x], folder=tmp_path)
    assert result_errors(operator, site, [x], [found]) == []
    (limits,) = operator.tolerance(site, [x]) if operator.tolerance else (None,)
    assert limits is not None
    assert np.isposinf(limits[0]).all() and (limits[1] < 1e-4).all() and not np.isposinf(limits[2:]).any()


@pytest.mark.slow
@compiled
@given(case=sites(), data=st.data())
def test_c_in_any_layout(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    operator, site, inputs = case
    kernel, folder, rank = KERNEL_OF[operator.name], tmp_path_factory.mktemp("c"), len(site.input(0).shape)
    layouts = {name: tuple(data.draw(st.permutations(range(rank)))) for name in "XY"}
    cuts = {f"i{axis}": data.draw(st.integers(1, 3)) for axis in range(rank - 1)}
    how = {"cuts": [cuts], "folder": folder, "layouts": layouts}
    for found in run_whole_and_tiled(operator, kernel, site, inputs, **how):
        assert result_errors(operator, site, inputs, found) == []


@compiled
@given(case=sites(), data=st.data())
def test_access(case: Case, data: st.DataObject) -> None:
    """Rows are whole, all other axes are parallel loops of their own."""
    operator, site, _ = case
    access = operator.access(site)
    assert isinstance(access, MapAccess)
    access.verify()
    assert {loop.kind for loop in access.loops} <= {"parallel"}
    box = {loop.name: (data.draw(st.integers(0, loop.extent - 1)), loop.extent) for loop in access.loops}
    assert window_errors(access, box) == []
    assert access.window("X", box)[-1].extent == site.input(0).shape[-1]


def test_reference_by_hand() -> None:
    x = np.array([[1, 3], [4, 4]], np.float32)
    (y,) = LAYER_NORMALIZATION.reference(site_of(LAYER_NORMALIZATION, [x], {"epsilon": 0.0}), [x])
    np.testing.assert_allclose(y[0], [-1, 1], rtol=1e-6)
    x = np.array([[3, 4]], np.float32)
    (y,) = RMS_NORMALIZATION.reference(site_of(RMS_NORMALIZATION, [x], {"epsilon": 0.0}), [x])
    np.testing.assert_allclose(y[0], np.array([3, 4]) / np.sqrt(12.5), rtol=1e-6)


def test_a_large_mean_does_not_cancel(tmp_path: Path) -> None:
    x = (np.linspace(-1, 1, 64) + 1000).astype(np.float32)[None]
    site = site_of(LAYER_NORMALIZATION, [x])
    found = run_kernel(LAYER_NORMALIZATION, KERNELS[0], site, [x], folder=tmp_path)
    assert result_errors(LAYER_NORMALIZATION, site, [x], found) == []
    assert abs(float(found[0].std()) - 1) < 1e-3


@pytest.mark.parametrize("extent", [1, 7, 768])
def test_a_constant_row_has_no_deviation(extent: int, tmp_path: Path) -> None:
    """Neither in C nor in the error model: what is left is B."""
    x = np.full((1, extent), 1000.1, np.float32)
    shift = np.linspace(-2, 2, extent).astype(np.float32)
    inputs: list[Floats | None] = [x, np.full(extent, 3, np.float32), shift]
    site = site_of(LAYER_NORMALIZATION, inputs)
    (found,) = run_kernel(LAYER_NORMALIZATION, KERNELS[0], site, inputs, folder=tmp_path)
    np.testing.assert_array_equal(found[0], shift)
    assert LAYER_NORMALIZATION.tolerance is not None
    (limits,) = LAYER_NORMALIZATION.tolerance(site, inputs)
    assert limits is not None and float(np.max(limits)) < 1e-5


@pytest.mark.parametrize(
    ("mean", "deviation", "most"), [(100, 0.1, 2e-4), (1000, 0.1, 2e-3), (1000, 1, 2e-4), (-5e5, 9, 1e-2)]
)
def test_rows_far_from_zero_are_close(mean: float, deviation: float, most: float, tmp_path: Path) -> None:
    """The mean is rounded once: by at most half the distance of neighbours there, seen from the deviation."""
    x = np.random.default_rng(3).normal(mean, deviation, (4, 512)).astype(np.float32)
    site = site_of(LAYER_NORMALIZATION, [x])
    found = run_kernel(LAYER_NORMALIZATION, KERNELS[0], site, [x], folder=tmp_path)
    assert result_errors(LAYER_NORMALIZATION, site, [x], found) == []
    assert LAYER_NORMALIZATION.tolerance is not None
    (limits,) = LAYER_NORMALIZATION.tolerance(site, [x])
    assert limits is not None and float(np.max(limits)) < 10 * most
    wide = x.astype(np.float64)
    exact = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    assert float(np.max(np.abs(found[0] - exact))) < most
