"""Pad: the reference against numpy's, the C in any layout and tile, and the access by brute force."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Site
from tilewright.operators.movement.pad import KERNELS, PAD
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import points, position, site_of, window_errors

few = settings.get_profile("programs")
many = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def cases(draw: st.DrawFn, dtype: str = "int32") -> tuple[Site, np.ndarray]:
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    mode = draw(st.sampled_from(["constant", "edge", "reflect", "wrap"]))
    pads = [draw(st.integers(-1, 4 if len(shape) < 3 else 2)) for _ in range(2 * len(shape))]
    for axis, extent in enumerate(shape):
        left = extent + min(pads[axis], 0) + min(pads[axis + len(shape)], 0)
        assume(left > 0 or (left == 0 and mode == "constant"))
    x = np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape).astype(dtype)
    value: int | float = 7 if dtype != "float32" else -1.5
    return site_of(PAD, [x], {"pads": tuple(pads), "mode": mode, "value": value}), x


@pytest.mark.slow
@many
@given(case=cases())
def test_reference_is_numpys_after_cutting(case: tuple[Site, np.ndarray]) -> None:
    site, x = case
    pads, rank = site.node.integers("pads"), x.ndim
    cut = tuple(slice(max(0, -pads[a]), x.shape[a] - max(0, -pads[a + rank])) for a in range(rank))
    border = [(max(0, pads[a]), max(0, pads[a + rank])) for a in range(rank)]
    mode = str(site.node.attributes["mode"])
    wanted = np.pad(x[cut], border, mode=mode, **({"constant_values": 7} if mode == "constant" else {}))
    assert np.array_equal(PAD.reference(site, [x])[0], wanted)


@pytest.mark.slow
@few
@given(data=st.data(), dtype=st.sampled_from(["float32", "int8", "uint8", "int32"]), seed=st.integers(0, 2**32))
def test_c_equals_reference(data: st.DataObject, dtype: str, seed: int, tmp_path: Path) -> None:
    site, x = data.draw(cases(dtype=dtype))
    assume(site.output.elements)
    assert kernel_errors(PAD, KERNELS[0], site, [x], np.random.default_rng(seed), tmp_path) == []


@pytest.mark.slow
@many
@given(case=cases(), data=st.data())
def test_access_equals_reference(case: tuple[Site, np.ndarray], data: st.DataObject) -> None:
    site, x = case
    assume(site.output.elements)
    (y,) = PAD.reference(site, [x])
    access = PAD.access(site)
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1))
        box[loop.name] = (low, data.draw(st.integers(low + 1, loop.extent)))
    if isinstance(access, MapAccess):
        for point in points(access):
            source = position(access, "X", point)
            assert y[position(access, "Y", point)] == (7 if source is None else x[source])
        if site.node.attributes["mode"] != "reflect":
            access.verify()
            assert window_errors(access, box) == []
            return
    window = access.window("X", box)
    piece = y[tuple(slice(*box[loop.name]) for loop in access.loops)]
    needed = [np.unique(found) for found in np.nonzero(np.isin(x, piece))]
    for span, positions in zip(window, needed, strict=True):
        assert span.low <= positions.min() <= positions.max() < span.high


def test_refusals() -> None:
    x = np.zeros((2, 2), np.float32)
    for attributes, reason in (
        ({"pads": (0, 0, 1)}, "two per axis"),
        ({"pads": (0, 0, 0, 0), "mode": "mirror"}, "mode is 'mirror'"),
        ({"pads": (-2, 0, -1, 0)}, "cut more than"),
        ({"pads": (-2, 0, 1, 0), "mode": "edge"}, "no element"),
    ):
        with pytest.raises(TilewrightError, match=reason):
            site_of(PAD, [x], attributes)
