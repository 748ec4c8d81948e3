"""MaxPool and AveragePool: the map against the references, the C against the references, whole and in tiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.pooling.pool import AVERAGE_POOL, AVERAGE_POOL_F32, MAX_POOL, MAX_POOL_PORTABLE
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled, run_whole_and_tiled
from tilewright.testing.operator_sites import points, position, refusal, result_errors, site_of, window_errors

Array = npt.NDArray[np.generic]
Case = tuple[Operator, Site, Array]
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")
KERNELS = {"MaxPool": MAX_POOL_PORTABLE, "AveragePool": AVERAGE_POOL_F32}


@st.composite
def pools(draw: st.DrawFn) -> Case:
    operator = draw(st.sampled_from([MAX_POOL, AVERAGE_POOL]))
    rank = draw(st.sampled_from([1, 2, 2, 3]))
    kernel, dilations, strides = ([draw(st.integers(1, 3)) for _ in range(rank)] for _ in range(3))
    pads = [draw(st.integers(0, 2)) for _ in range(2 * rank)]
    extents = [
        max(1, (taps - 1) * step + 1 - before - after) + draw(st.integers(0, 4))
        for taps, step, before, after in zip(kernel, dilations, pads[:rank], pads[rank:], strict=True)
    ]
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel),
        "strides": tuple(strides),
        "dilations": tuple(dilations),
        "pads": tuple(pads),
        "ceil_mode": draw(st.integers(0, 1)),
    }
    dtype = "float32"
    if operator is MAX_POOL:
        dtype = draw(st.sampled_from(["float32", "int8", "uint8"]))
    else:
        attributes["count_include_pad"] = draw(st.integers(0, 1))
        attributes |= {"clip_low": -1.0, "clip_high": 0.5} if draw(st.booleans()) else {}
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 3)), *extents)
    x: Array = random.integers(-128, 127, shape).astype(dtype)
    if dtype == "float32":
        x = random.standard_normal(shape).astype(np.float32)
    return operator, site_of(operator, [x], attributes), x


@few
@given(case=pools())
def test_map_is_the_reference(case: Case) -> None:
    operator, site, x = case
    access = operator.access(site)
    assert isinstance(access, MapAccess)
    access.verify()
    seen: dict[tuple[int, ...], list[float]] = {}
    pads = site.node.integers("pads")
    end = [extent + after for extent, after in zip(x.shape[2:], pads[len(pads) // 2 :], strict=True)]
    for point in points(access):
        at, window = position(access, "X", point), position(access, "Y", point)
        assert window is not None
        values = seen.setdefault(window, [])
        if at is not None:
            values.append(float(x[at]))
        elif site.node.integer("count_include_pad"):
            places = [axis.index.at(point) for axis in access.axes["X"][2:] if axis.index is not None]
            if all(place < limit for place, limit in zip(places, end, strict=True)):
                values.append(0.0)
    (expected,) = operator.reference(site, [x])
    assert len(seen) == expected.size
    for window, values in seen.items():
        if operator is MAX_POOL:
            lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype.str).min
            assert expected[window] == max(values, default=lowest)
        else:
            mean = float(np.mean(values)) if values else 0.0
            low, high = site.node.number("clip_low", -np.inf), site.node.number("clip_high", np.inf)
            assert expected[window] == pytest.approx(min(max(mean, low), high), rel=1e-6, abs=1e-6)


@few
@given(case=pools(), data=st.data())
def test_windows_are_hulls(case: Case, data: st.DataObject) -> None:
    operator, site, _ = case
    access = operator.access(site)
    assert isinstance(access, MapAccess)
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1))
        box[loop.name] = (low, data.draw(st.integers(low + 1, loop.extent)))
    assert window_errors(access, box) == []


@pytest.mark.slow
@compiled
@given(case=pools(), data=st.data())
def test_c_in_any_layout(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    operator, site, x = case
    kernel, folder = KERNELS[operator.name], tmp_path_factory.mktemp("c")
    layouts = {name: tuple(data.draw(st.permutations(range(x.ndim)))) for name in "XY"}
    cuts = {loop: data.draw(st.integers(1, 3)) for loop in "ncdhw"}
    how = {"cuts": [cuts], "folder": folder, "layouts": layouts}
    for found in run_whole_and_tiled(operator, kernel, site, [x], **how):
        assert result_errors(operator, site, [x], found) == []


def attributes(**changes: Attribute) -> dict[str, Attribute]:
    return {
        "kernel_shape": (2, 2), "strides": (2, 2), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0, **changes,
    }  # fmt: skip


@pytest.mark.parametrize("operator", [MAX_POOL, AVERAGE_POOL])
def test_nan_stays(tmp_path_factory: pytest.TempPathFactory, operator: Operator) -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    x[0, 0, 1, 0] = np.nan
    site = site_of(operator, [x], attributes())
    (expected,) = operator.reference(site, [x])
    assert np.isnan(expected).sum() == 1
    found = run_kernel(operator, KERNELS[operator.name], site, [x], folder=tmp_path_factory.mktemp("c"))
    assert result_errors(operator, site, [x], found) == []


def test_shapes() -> None:
    x = np.zeros((1, 3, 5, 5), np.float32)
    assert site_of(MAX_POOL, [x], attributes()).output.shape == (1, 3, 2, 2)
    assert site_of(MAX_POOL, [x], attributes(ceil_mode=1)).output.shape == (1, 3, 3, 3)
    # A window that would start in the padding after the input is left out.
    assert site_of(MAX_POOL, [x], attributes(ceil_mode=1, strides=(5, 5), kernel_shape=(1, 1))).output.shape[2:] == (
        1,
        1,
    )
    with pytest.raises(TilewrightError, match="does not fit"):
        site_of(MAX_POOL, [x], attributes(kernel_shape=(6, 1)))
    with pytest.raises(TilewrightError, match="spatial"):
        site_of(MAX_POOL, [x[0]], attributes())


def test_kernels_refuse_other_types() -> None:
    x = np.zeros((1, 3, 5, 5), np.int32)
    reason = "X must be f32 or an integer of 8 or 16 bits, found i32"
    assert refusal(MAX_POOL_PORTABLE, site_of(MAX_POOL, [x], attributes())) == reason
    assert refusal(AVERAGE_POOL_F32, site_of(AVERAGE_POOL, [x], attributes())) == "X must be f32, found i32"


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8])
@pytest.mark.parametrize("operator", [MAX_POOL, AVERAGE_POOL], ids=lambda operator: operator.name)
@pytest.mark.parametrize("layout", [(0, 1, 2, 3), (0, 2, 3, 1)])
def test_one_window_over_everything_in_parts(
    tmp_path: Path, operator: Operator, dtype: type[np.generic], layout: tuple[int, ...]
) -> None:
    if operator is AVERAGE_POOL and dtype is not np.float32:
        return
    x = (np.random.default_rng(3).standard_normal((2, 3, 7, 5)) * 40 + 60).clip(0, 120).astype(dtype)
    clip = {"count_include_pad": 0, "clip_low": -1.0, "clip_high": 59.0} if operator is AVERAGE_POOL else {}
    site = site_of(operator, [x], attributes(kernel_shape=(7, 5), strides=(1, 1), **clip))
    kernel = KERNELS[operator.name]
    cuts = {"c": 2, "y": 3, "x": 2}
    found = run_tiled(operator, kernel, site, [x], cuts=cuts, folder=tmp_path, layouts={"X": layout, "Y": layout})
    assert result_errors(operator, site, [x], found) == []


def test_windows_with_neighbours_are_whole() -> None:
    x = np.zeros((1, 2, 8, 8), np.float32)
    assert layer_of(MAX_POOL, MAX_POOL_PORTABLE, site_of(MAX_POOL, [x], attributes())).sums is None
