"""ConvTranspose: the reference against scalar sums, its windows, the C against it, whole, in tiles and in parts."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.operators.convolution.conv_transpose import CONV_TRANSPOSE, CONV_TRANSPOSE_F32
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import result_errors, site_of, window_errors

Inputs = list[npt.NDArray[np.float32]]
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")


@st.composite
def sites(draw: st.DrawFn) -> tuple[Site, Inputs]:
    rank, group = draw(st.sampled_from([1, 2, 2, 3])), draw(st.integers(1, 3))
    kernel, strides, dilations = (tuple(draw(st.integers(1, 3)) for _ in range(rank)) for _ in range(3))
    extra = tuple(draw(st.integers(0, max(pair) - 1)) for pair in zip(strides, dilations, strict=True))
    reach = [(taps - 1) * step + 1 for taps, step in zip(kernel, dilations, strict=True)]
    pads = tuple(draw(st.integers(0, (reach[axis % rank] - 1) // 2)) for axis in range(2 * rank))
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads, "group": group,
        "output_padding": extra,
    }  # fmt: skip
    inside, outside = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    shapes = [(draw(st.integers(1, 2)), group * inside, *(draw(st.integers(1, 4)) for _ in range(rank)))]
    shapes += [(group * inside, outside, *kernel), *([(group * outside,)] if draw(st.booleans()) else [])]
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    constants = (1, 2) if draw(st.booleans()) else ()
    return site_of(CONV_TRANSPOSE, inputs, attributes, constants[: len(inputs) - 1]), inputs


@pytest.mark.slow
@few
@given(case=sites())
def test_reference_is_its_definition(case: tuple[Site, Inputs]) -> None:
    site, (x, w, *b) = case
    node, group, (y,) = site.node, site.node.integer("group"), CONV_TRANSPOSE.reference(site, case[1])
    strides, dilations, pads = (node.integers(name) for name in ("strides", "dilations", "pads"))
    wanted = np.zeros(y.shape) + (b[0].reshape(-1, *(1,) * (y.ndim - 2)) if b else 0)
    inside, outside = x.shape[1] // group, w.shape[1]
    for n, c, *at in product(*map(range, x.shape)):
        for o, *tap in product(*map(range, w.shape[1:])):
            place = [q * s + t * d - p for q, s, t, d, p in zip(at, strides, tap, dilations, pads, strict=False)]
            if all(0 <= position < extent for position, extent in zip(place, y.shape[2:], strict=True)):
                wanted[(n, c // inside * outside + o, *place)] += float(x[(n, c, *at)]) * float(w[(c, o, *tap)])
    assert np.allclose(y, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@few
@given(case=sites(), data=st.data())
def test_windows_hold_everything_that_is_read(case: tuple[Site, Inputs], data: st.DataObject) -> None:
    site, (x, *rest) = case
    access = CONV_TRANSPOSE.access(site)
    assert isinstance(access, MapAccess)
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1)) if loop.kind == "parallel" else 0
        high = data.draw(st.integers(low + 1, loop.extent)) if loop.kind == "parallel" else loop.extent
        box[loop.name] = (low, high)
    assert window_errors(access, box) == []
    seen = np.zeros_like(x)
    inside = tuple(slice(span.low, span.high) for span in access.window("X", box))
    seen[inside] = x[inside]
    written = tuple(slice(span.low, span.high) for span in access.window("Y", box))
    results = [CONV_TRANSPOSE.reference(site, [array, *rest])[0][written] for array in (x, seen)]
    assert np.array_equal(*results)


@pytest.mark.slow
@compiled
@given(case=sites(), seed=st.integers(0, 2**32))
def test_c_equals_reference(case: tuple[Site, Inputs], seed: int, tmp_path: Path) -> None:
    site, inputs = case
    random = np.random.default_rng(seed)
    given_inputs = [*inputs, None][: len(site.inputs)]
    assert kernel_errors(CONV_TRANSPOSE, CONV_TRANSPOSE_F32, site, given_inputs, random, tmp_path) == []
    cuts = {name: int(random.integers(1, 4)) for name in ("o", "h", "w", "c")}
    found = run_tiled(CONV_TRANSPOSE, CONV_TRANSPOSE_F32, site, given_inputs, cuts=cuts, folder=tmp_path)
    assert result_errors(CONV_TRANSPOSE, site, given_inputs, found) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kernel_shape": (3, 2)}, "W "),
        ({"group": 2}, "do not fit together"),
        ({"pads": (5, 5, 5, 5)}, "cut everything off"),
    ],
)
def test_refusals(changes: dict[str, Any], reason: str) -> None:
    plain = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1}
    with pytest.raises(TilewrightError, match=reason):
        site_of(
            CONV_TRANSPOSE, [np.zeros((1, 3, 4, 4), np.float32), np.zeros((3, 2, 3, 3), np.float32)], plain | changes
        )
