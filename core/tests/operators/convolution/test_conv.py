"""Conv: the map against the reference, the C against the reference, whole and in tiles, in any layout."""

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
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.convolution.conv import CONV, CONV_COMPUTED_F32, CONV_F32
from tilewright.testing.kernels.kernel_run import STRICT, run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import points, position, refusal, site_of, window_errors

Floats = npt.NDArray[np.float32]
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")


@st.composite
def sites(draw: st.DrawFn, constant: bool = True) -> tuple[Site, list[Floats | None]]:
    rank = draw(st.sampled_from([1, 2, 2, 2, 3]))
    group = draw(st.sampled_from([1, 1, 2, 3]))
    per_group, outputs = draw(st.integers(1, 2 if rank == 3 else 3)), group * draw(st.integers(1, 5))
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    dilations = [draw(st.integers(1, 2)) for _ in range(rank)]
    strides = [draw(st.integers(1, 3)) for _ in range(rank)]
    pads = [draw(st.integers(0, 2)) for _ in range(2 * rank)]
    extents = [
        max(1, (taps - 1) * step + 1 - before - after) + draw(st.integers(0, 3))
        for taps, step, before, after in zip(kernel, dilations, pads[:rank], pads[rank:], strict=True)
    ]
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel),
        "strides": tuple(strides),
        "dilations": tuple(dilations),
        "pads": tuple(pads),
        "ceil_mode": 0,
        "group": group,
    }
    if draw(st.booleans()):
        attributes |= {"clip_low": -0.5, "clip_high": 1.0}
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = random.standard_normal((draw(st.integers(1, 2)), group * per_group, *extents)).astype(np.float32)
    w = random.standard_normal((outputs, per_group, *kernel)).astype(np.float32)
    b = random.standard_normal(outputs).astype(np.float32) if draw(st.booleans()) else None
    inputs = [x, w, b] if b is not None else [x, w]
    return site_of(CONV, inputs, attributes, range(1, len(inputs)) if constant else ()), inputs


def assert_close(site: Site, inputs: list[Floats | None], found: Floats) -> None:
    assert CONV.tolerance is not None
    (expected,), (tolerance,) = CONV.reference(site, inputs), CONV.tolerance(site, inputs)
    assert found.shape == expected.shape == site.output.shape
    assert np.all(np.abs(found.astype(np.float64) - expected) <= tolerance)


def by_map(site: Site, access: MapAccess, inputs: dict[str, Floats]) -> npt.NDArray[np.float64]:
    total = np.zeros(site.output.shape)
    if "B" in inputs:
        total += inputs["B"].reshape(-1, *(1,) * (total.ndim - 2))
    for point in points(access):
        at = position(access, "X", point)
        if at is not None:
            weight = position(access, "W", point)
            assert weight is not None
            total[position(access, "Y", point)] += float(inputs["X"][at]) * float(inputs["W"][weight])
    low, high = site.node.number("clip_low", -np.inf), site.node.number("clip_high", np.inf)
    return np.clip(total, low, high)


@pytest.mark.slow
@few
@given(case=sites())
def test_map_is_the_reference(case: tuple[Site, list[Floats | None]]) -> None:
    site, inputs = case
    access = CONV.access(site)
    assert isinstance(access, MapAccess)
    access.verify()
    named = {name: array for name, array in zip("XWB", inputs, strict=False) if array is not None}
    (expected,) = CONV.reference(site, inputs)
    np.testing.assert_allclose(by_map(site, access, named), expected, rtol=1e-6, atol=1e-6)
    layer = layer_of(CONV, CONV_F32, site)
    packed, arrays = layer.access, {**named, **layer.packed}
    assert isinstance(packed, MapAccess)
    np.testing.assert_allclose(by_map(site, packed, arrays), expected, rtol=1e-6, atol=1e-6)


@few
@given(case=sites(), data=st.data())
def test_windows_are_hulls(case: tuple[Site, list[Floats | None]], data: st.DataObject) -> None:
    access = CONV.access(case[0])
    assert isinstance(access, MapAccess)
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1))
        box[loop.name] = (low, data.draw(st.integers(low + 1, loop.extent)))
    assert window_errors(access, box) == []


@pytest.mark.slow
@compiled
@given(case=sites(), data=st.data())
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[Site, list[Floats | None]], data: st.DataObject
) -> None:
    site, inputs = case
    layouts = {name: tuple(data.draw(st.permutations(range(len(site.output.shape))))) for name in "XY"}
    (found,) = run_kernel(CONV, CONV_F32, site, inputs, folder=tmp_path_factory.mktemp("c"), layouts=layouts)
    assert_close(site, inputs, found)


@pytest.mark.slow
@compiled
@given(case=sites(), data=st.data())
def test_c_in_tiles(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[Site, list[Floats | None]], data: st.DataObject
) -> None:
    site, inputs = case
    cuts = {loop: data.draw(st.integers(1, 3)) for loop in data.draw(st.sampled_from(["nodhw", "nodhwc"]))}
    layouts = {name: tuple(data.draw(st.permutations(range(len(site.output.shape))))) for name in "XY"}
    (found,) = run_tiled(CONV, CONV_F32, site, inputs, cuts=cuts, folder=tmp_path_factory.mktemp("c"), layouts=layouts)
    assert_close(site, inputs, found)


@pytest.mark.slow
@settings(compiled, max_examples=5)
@given(case=sites(constant=False), data=st.data())
def test_c_with_computed_weights(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[Site, list[Floats | None]], data: st.DataObject
) -> None:
    site, inputs = case
    assert refusal(CONV_F32, site) == "W is not a constant"
    layouts = {name: tuple(data.draw(st.permutations(range(len(site.output.shape))))) for name in "XWY"}
    (found,) = run_kernel(CONV, CONV_COMPUTED_F32, site, inputs, folder=tmp_path_factory.mktemp("c"), layouts=layouts)
    assert_close(site, inputs, found)


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_c_is_clean_at_every_level(tmp_path: Path, level: str) -> None:
    site, inputs = plain_case(group=2)
    flags = [level if flag == "-O1" else flag for flag in STRICT]
    (found,) = run_kernel(CONV, CONV_F32, site, inputs, folder=tmp_path, flags=flags)
    assert_close(site, inputs, found)


def plain_case(group: int, channels: int = 4) -> tuple[Site, list[Floats | None]]:
    random = np.random.default_rng(7)
    x = random.standard_normal((1, channels, 6, 5)).astype(np.float32)
    w = random.standard_normal((8, channels // group, 3, 3)).astype(np.float32)
    b = random.standard_normal(8).astype(np.float32)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0,
        "group": group,
    }  # fmt: skip
    return site_of(CONV, [x, w, b], attributes, (1, 2)), [x, w, b]


def test_nan_and_infinity_pass_a_fused_clip(tmp_path: Path) -> None:
    _, (x, w, b) = plain_case(group=1)
    assert x is not None
    x = x.copy()
    x[0, 0, 2, 2] = np.nan
    attributes = {**dict(plain_case(1)[0].node.attributes), "clip_low": 0.0, "clip_high": 6.0}
    site = site_of(CONV, [x, w, b], attributes, (1, 2))
    (expected,) = CONV.reference(site, [x, w, b])
    (found,) = run_kernel(CONV, CONV_F32, site, [x, w, b], folder=tmp_path)
    assert np.isnan(expected).any()
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))


def test_shapes_and_macs() -> None:
    site, _ = plain_case(group=2)
    assert site.output.shape == (1, 8, 6, 5)
    assert CONV.macs(site) == 8 * 6 * 5 * 2 * 9


def test_wrong_shapes_are_model_errors() -> None:
    _, (x, w, b) = plain_case(group=1)
    assert x is not None and w is not None and b is not None
    attributes = dict(plain_case(1)[0].node.attributes)
    wrong: list[tuple[list[Floats | None], dict[str, Attribute]]] = [
        ([x, w[:, :3], b], {}),
        ([x, w, b[:5]], {}),
        ([x, w, b], {"group": 3}),
        ([x, w, b], {"kernel_shape": (3, 2)}),
        ([x, w, b], {"dilations": (9, 9)}),
        ([x[0], w, b], {}),
    ]
    for inputs, changes in wrong:
        with pytest.raises(TilewrightError) as caught:
            site_of(CONV, inputs, {**attributes, **changes})
        assert caught.value.code == "TW1310" and caught.value.where == "node"
