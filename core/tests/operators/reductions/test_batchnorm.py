"""BatchNormalization: the reference by hand, the maps, and the C in any layout and in tiles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Site
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.reductions.batchnorm import BATCH_NORMALIZATION, BATCH_NORMALIZATION_F32
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright.testing.operator_sites import points, position, refusal, result_errors, site_of

Floats = npt.NDArray[np.float32]
compiled = settings.get_profile("programs")


@st.composite
def sites(draw: st.DrawFn) -> tuple[Site, list[Floats]]:
    shape = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale, shift, mean = (random.standard_normal(shape[1]).astype(np.float32) for _ in range(3))
    variance = random.uniform(0.01, 4, shape[1]).astype(np.float32)
    inputs = [random.standard_normal(shape).astype(np.float32), scale, shift, mean, variance]
    return site_of(BATCH_NORMALIZATION, inputs, {"epsilon": 1e-3}, (1, 2, 3, 4)), inputs


@compiled
@given(case=sites())
def test_map_is_the_reference(case: tuple[Site, list[Floats]]) -> None:
    site, inputs = case
    (expected,) = BATCH_NORMALIZATION.reference(site, inputs)
    arrays: dict[str, Floats] = dict(zip(BATCH_NORMALIZATION.inputs, inputs, strict=True))
    layer = layer_of(BATCH_NORMALIZATION, BATCH_NORMALIZATION_F32, site)
    arrays.update(layer.packed)
    own, packed = BATCH_NORMALIZATION.access(site), layer.access
    assert isinstance(own, MapAccess) and isinstance(packed, MapAccess)
    assert len(list(points(own))) == expected.size
    for point in points(own):
        x, scale, shift, mean, var = (float(arrays[name][position(own, name, point)]) for name in own.inputs)
        wanted = pytest.approx((x - mean) / np.sqrt(var + 1e-3) * scale + shift, rel=1e-5, abs=1e-5)
        assert expected[position(own, "Y", point)] == wanted
        x, factor, shift = (float(arrays[name][position(packed, name, point)]) for name in packed.inputs)
        assert x * factor + shift == wanted


@pytest.mark.slow
@compiled
@given(case=sites(), data=st.data())
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[Site, list[Floats]], data: st.DataObject
) -> None:
    site, inputs = case
    operator, kernel, folder = BATCH_NORMALIZATION, BATCH_NORMALIZATION_F32, tmp_path_factory.mktemp("c")
    layouts = {name: tuple(data.draw(st.permutations(range(inputs[0].ndim)))) for name in "XY"}
    cuts = {loop.name: data.draw(st.integers(1, 3)) for loop in operator.access(site).loops}
    how = {"cuts": [cuts], "folder": folder, "layouts": layouts}
    for found in run_whole_and_tiled(operator, kernel, site, inputs, **how):
        assert result_errors(operator, site, inputs, found) == []


def test_reference_by_hand() -> None:
    x = np.array([[[1.0, 3.0], [10.0, 20.0]]], np.float32)
    parameters = ([2, 1], [1, 0], [1, 10], [3, 24])
    inputs = [x, *(np.array(values, np.float32) for values in parameters)]
    (y,) = BATCH_NORMALIZATION.reference(site_of(BATCH_NORMALIZATION, inputs, {"epsilon": 1.0}), inputs)
    np.testing.assert_array_equal(y, [[[1.0, 3.0], [0.0, 2.0]]])


def test_errors_and_refusals() -> None:
    x, ones = np.ones((1, 2, 3), np.float32), np.ones(2, np.float32)
    site = site_of(BATCH_NORMALIZATION, [x, ones, ones, ones, ones])
    assert refusal(BATCH_NORMALIZATION_F32, site) == "parameters are no constants"
    with pytest.raises(TilewrightError, match="2 channels"):
        site_of(BATCH_NORMALIZATION, [x, ones, ones, ones, ones[:1]])
