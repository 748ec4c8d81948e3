"""Softmax and LogSoftmax: access, C against the references in any layout and in tiles, special values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.operators.reductions.softmax import LOG_SOFTMAX, LOG_SOFTMAX_F32, SOFTMAX, SOFTMAX_F32
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright.testing.operator_sites import result_errors, site_of, window_errors

Floats = npt.NDArray[np.float32]
Case = tuple[Operator, Site, Floats]
KERNEL_OF = {"Softmax": SOFTMAX_F32, "LogSoftmax": LOG_SOFTMAX_F32}
both = pytest.mark.parametrize("operator", [SOFTMAX, LOG_SOFTMAX], ids=lambda operator: operator.name)
compiled = settings.get_profile("programs")


@st.composite
def sites(draw: st.DrawFn) -> Case:
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = (random.standard_normal(shape) * draw(st.sampled_from([0.1, 3, 60]))).astype(np.float32)
    operator = draw(st.sampled_from([SOFTMAX, LOG_SOFTMAX]))
    return operator, site_of(operator, [x], {"axis": draw(st.integers(0, len(shape) - 1))}), x


@pytest.mark.slow
@compiled
@given(case=sites(), data=st.data())
def test_c_in_any_layout(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    operator, site, x = case
    kernel, folder = KERNEL_OF[operator.name], tmp_path_factory.mktemp("c")
    layouts = {name: tuple(data.draw(st.permutations(range(x.ndim)))) for name in "XY"}
    cuts = {f"i{axis}": data.draw(st.integers(1, 3)) for axis in range(x.ndim)}
    how = {"cuts": [cuts], "folder": folder, "layouts": layouts}
    for found in run_whole_and_tiled(operator, kernel, site, [x], **how):
        assert result_errors(operator, site, [x], found) == []


@compiled
@given(case=sites(), data=st.data())
def test_access(case: Case, data: st.DataObject) -> None:
    """Rows are whole, all other axes are parallel loops of their own."""
    _, site, x = case
    access = SOFTMAX.access(site)
    assert isinstance(access, MapAccess)
    access.verify()
    axis = site.node.integer("axis")
    assert [loop.extent for loop in access.loops] == [extent for at, extent in enumerate(x.shape) if at != axis]
    assert {loop.kind for loop in access.loops} <= {"parallel"}
    box = {loop.name: (data.draw(st.integers(0, loop.extent - 1)), loop.extent) for loop in access.loops}
    assert window_errors(access, box) == []
    assert access.window("X", box)[axis].extent == x.shape[axis]


def test_reference_by_hand() -> None:
    x = np.log(np.array([[1, 2, 5], [4, 4, 8]], np.float32))
    (y,) = SOFTMAX.reference(site_of(SOFTMAX, [x], {"axis": 1}), [x])
    np.testing.assert_allclose(y, [[0.125, 0.25, 0.625], [0.25, 0.25, 0.5]], rtol=1e-6)
    (y,) = SOFTMAX.reference(site_of(SOFTMAX, [x], {"axis": 0}), [x])
    np.testing.assert_allclose(y, [[1 / 5, 1 / 3, 5 / 13], [4 / 5, 2 / 3, 8 / 13]], rtol=1e-6)


@both
def test_special_values(tmp_path: Path, operator: Operator) -> None:
    huge = 3e38
    rows = [
        [huge, -huge, 0], [1000, 1001, 1002], [-np.inf, 0, 0], [np.nan, 0, 1], [0, 1, np.nan], [np.inf, 0, 0],
        [-np.inf, -np.inf, -np.inf], [0, -100, -103],
    ]  # fmt: skip
    x = np.array(rows, np.float32)
    site = site_of(operator, [x], {"axis": 1})
    with np.errstate(invalid="ignore", over="ignore"):
        found = run_kernel(operator, KERNEL_OF[operator.name], site, [x], folder=tmp_path)
        assert result_errors(operator, site, [x], found) == []
    assert np.isnan(found[0][3:7]).all() and not np.isnan(found[0][:3]).any()


def test_an_axis_that_is_not_there_is_a_model_error() -> None:
    with pytest.raises(TilewrightError, match="no axis 2"):
        site_of(SOFTMAX, [np.zeros((2, 3), np.float32)], {"axis": 2})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ends", [(-np.inf, 1.0), (-3e38, 3e38), (np.nan, np.inf)])
def test_the_reference_says_nothing_about_what_is_no_mistake(ends: tuple[float, float]) -> None:
    x = np.array(ends, np.float32)
    site = site_of(LOG_SOFTMAX, [x], {"axis": 0})
    LOG_SOFTMAX.reference(site, [x])
    assert LOG_SOFTMAX.tolerance is not None
    LOG_SOFTMAX.tolerance(site, [x])
