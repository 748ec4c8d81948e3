"""Reductions: the map and the C against the references, whole and in tiles; integers; products without a bound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.operators.reductions.reduce import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright.testing.operator_sites import points, position, result_errors, site_of, window_errors

Floats = npt.NDArray[np.float32]
Case = tuple[Operator, Site, Floats]
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")
KERNEL_OF = {kernel.op: kernel for kernel in KERNELS}
COMBINE = {
    "ReduceMean": np.mean,
    "ReduceSum": np.sum,
    "ReduceProd": np.prod,
    "ReduceMax": np.max,
    "ReduceMin": np.min,
}


@st.composite
def sites(draw: st.DrawFn) -> Case:
    operator = draw(st.sampled_from(OPERATORS))
    shape = draw(st.lists(st.integers(1, 4), min_size=0, max_size=5))
    axes = sorted(draw(st.sets(st.integers(0, len(shape) - 1)))) if shape else []
    x = np.random.default_rng(draw(st.integers(0, 2**32))).standard_normal(shape).astype(np.float32)
    attributes = {"axes": tuple(axes), "keepdims": draw(st.integers(0, 1))}
    return operator, site_of(operator, [x], attributes), x


@pytest.mark.slow
@few
@given(case=sites(), data=st.data())
def test_map_is_the_reference(case: Case, data: st.DataObject) -> None:
    operator, site, x = case
    access = operator.access(site)
    assert isinstance(access, MapAccess)
    access.verify()
    seen: dict[tuple[int, ...], list[float]] = {}
    for point in points(access):
        at, source = position(access, "Y", point), position(access, "X", point)
        assert at is not None and source is not None
        seen.setdefault(at, []).append(float(x[source]))
    (expected,) = operator.reference(site, [x])
    assert len(seen) == expected.size
    for at, values in seen.items():
        assert expected[at] == pytest.approx(COMBINE[operator.name](values), rel=1e-6, abs=1e-6)
    box = {loop.name: (data.draw(st.integers(0, loop.extent - 1)), loop.extent) for loop in access.loops}
    assert window_errors(access, box) == []
    kinds = {loop.name[0]: loop.kind for loop in access.loops}
    assert kinds.get("i", "parallel") == "parallel" and kinds.get("r", "reduce") == "reduce"


@pytest.mark.slow
@compiled
@given(case=sites(), data=st.data())
def test_c_in_any_layout(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    operator, site, x = case
    kernel, folder = KERNEL_OF[operator.name], tmp_path_factory.mktemp("c")
    ranks = {"X": x.ndim, "Y": len(site.output.shape)}
    layouts = {name: tuple(data.draw(st.permutations(range(rank)))) for name, rank in ranks.items()}
    cuts = {f"{loop}{axis}": data.draw(st.integers(1, 3)) for axis in range(x.ndim) for loop in "ir"}
    how = {"cuts": [cuts], "folder": folder, "layouts": layouts}
    for found in run_whole_and_tiled(operator, kernel, site, [x], **how):
        assert result_errors(operator, site, [x], found) == []


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
@pytest.mark.parametrize("axis", [0, 1])
def test_nan_stays(tmp_path: Path, operator: Operator, axis: int) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    x[1, 2] = np.nan
    site = site_of(operator, [x], {"axes": (axis,)})
    found = run_kernel(operator, KERNEL_OF[operator.name], site, [x], folder=tmp_path)
    assert np.isnan(found[0]).sum() == 1
    assert result_errors(operator, site, [x], found) == []


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("name", ["ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"])
def test_integers_wrap(name: str, dtype: str, tmp_path: Path) -> None:
    operator, info = next(one for one in OPERATORS if one.name == name), np.iinfo(dtype)
    x = np.random.default_rng(1).integers(info.min, info.max, (3, 4, 5), dtype, endpoint=True)
    site = site_of(operator, [x], {"axes": (0, 2), "keepdims": 0})
    assert kernel_errors(operator, KERNEL_OF[name], site, [x], np.random.default_rng(2), tmp_path) == []


def test_integers_over_no_element() -> None:
    x = np.zeros((2, 0), np.int8)
    wanted = {"ReduceSum": 0, "ReduceProd": 1, "ReduceMax": -128, "ReduceMin": 127}
    for operator in OPERATORS:
        if operator.name in wanted:
            site = site_of(operator, [x], {"axes": (1,), "keepdims": 0})
            assert operator.reference(site, [x])[0].tolist() == [wanted[operator.name]] * 2


def test_a_product_that_may_leave_what_a_float_holds_has_no_bound() -> None:
    operator = next(one for one in OPERATORS if one.name == "ReduceProd")
    x = np.array([[1e-30, 1e-30, 1e30, 1e30], [2, 3, 0, 4]], np.float32)
    site = site_of(operator, [x], {"axes": (1,), "keepdims": 0})
    assert operator.tolerance is not None
    (allowed,) = operator.tolerance(site, [x])
    assert allowed is not None and np.isinf(allowed[0]) and allowed[1] < 1e-6


def test_shapes() -> None:
    x = np.zeros((2, 3, 4), np.float32)
    mean = OPERATORS[0]
    assert site_of(mean, [x], {"axes": (0, 2)}).output.shape == (1, 3, 1)
    assert site_of(mean, [x], {"axes": (0, 2), "keepdims": 0}).output.shape == (3,)
    assert site_of(mean, [x], {"axes": (0, 1, 2), "keepdims": 0}).output.shape == ()
    for axes in ((3,), (1, 0), (1, 1), (-1,)):
        with pytest.raises(TilewrightError, match="ascending"):
            site_of(mean, [x], {"axes": axes})
