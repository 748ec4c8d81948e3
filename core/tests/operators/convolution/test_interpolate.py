"""ResizeLinear: the reference against numpy's interpolation, its windows, the C against it; ONNX's own cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx.backend.test.case.node import collect_testcases

from tilewright.builtin import tilewright_operators
from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.operators.convolution.interpolate import RESIZE_LINEAR, RESIZE_LINEAR_F32
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of, window_errors

Floats = npt.NDArray[np.float32]
OPERATORS = {operator.name: operator for operator in tilewright_operators()}
# Part of a case's name, and of the reason for its refusal.
REFUSED = {
    "antialias": "antialias",
    "_axes": "axes and antialias",
    "not_larger": "keep_aspect_ratio_policy",
    "not_smaller": "keep_aspect_ratio_policy",
    "tf_crop_and_resize": "coordinates by",
}
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")


@st.composite
def sites(draw: st.DrawFn) -> tuple[Site, Floats]:
    rank = draw(st.integers(1, 2))
    columns: dict[str, Attribute] = {
        "sizes": tuple(draw(st.integers(1, 9)) for _ in range(rank)),
        "slopes": tuple(draw(st.integers(0, 9)) for _ in range(rank)),
        "offsets": tuple(draw(st.integers(-7, 7)) for _ in range(rank)),
        "divisors": tuple(draw(st.integers(1, 6)) for _ in range(rank)),
    }
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 3)), *(draw(st.integers(1, 6)) for _ in range(rank)))
    x = np.random.default_rng(draw(st.integers(0, 2**32))).standard_normal(shape).astype(np.float32)
    return site_of(RESIZE_LINEAR, [x], columns), x


@few
@given(case=sites())
def test_reference_is_numpys_interpolation(case: tuple[Site, Floats]) -> None:
    site, x = case
    wanted = x.astype(np.float64)
    names = ("sizes", "slopes", "offsets", "divisors")
    lines = zip(*(site.node.integers(name) for name in names), strict=True)
    for axis, (size, slope, offset, divisor) in enumerate(lines, start=2):
        places, extent = (slope * np.arange(size) + offset) / divisor, x.shape[axis]
        wanted = np.apply_along_axis(lambda row, at=places, n=extent: np.interp(at, np.arange(n), row), axis, wanted)
    assert np.allclose(RESIZE_LINEAR.reference(site, [x])[0], wanted, atol=1e-5)


@few
@given(case=sites(), data=st.data())
def test_windows_are_exact(case: tuple[Site, Floats], data: st.DataObject) -> None:
    access = RESIZE_LINEAR.access(case[0])
    assert isinstance(access, MapAccess)
    access.verify()
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1))
        box[loop.name] = (low, data.draw(st.integers(low + 1, loop.extent)))
    assert window_errors(access, box) == []


@pytest.mark.slow
@compiled
@given(case=sites(), seed=st.integers(0, 2**32))
def test_c_equals_reference(case: tuple[Site, Floats], seed: int, tmp_path: Path) -> None:
    site, x = case
    assert kernel_errors(RESIZE_LINEAR, RESIZE_LINEAR_F32, site, [x], np.random.default_rng(seed), tmp_path) == []


def baked(model: onnx.ModelProto, values: dict[str, npt.NDArray[np.generic]]) -> bytes:
    """The model with scales and sizes as constants: a compiler cannot take them at run time."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for value in list(copy.graph.input)[1:]:
        copy.graph.input.remove(value)
        copy.graph.initializer.append(onnx.numpy_helper.from_array(values[value.name], value.name))
    return copy.SerializeToString()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_onnx_cases() -> None:
    right, wrong = 0, {}
    found_cases: list[Any] = collect_testcases(None)
    for case in found_cases:
        if not case.name.startswith("test_resize_") or "linear" not in case.name:
            continue
        inputs, (expected,) = case.data_sets[0]
        values = dict(zip((value.name for value in case.model.graph.input), inputs, strict=True))
        try:
            graph = load(baked(case.model, values), operators=OPERATORS).graph
        except TilewrightError as error:
            if not any(part in case.name and reason in str(error) for part, reason in REFUSED.items()):
                wrong[case.name] = str(error)
            continue
        found = run(graph, {name: values[name] for name in graph.inputs}, OPERATORS)[graph.outputs[0]]
        if found.shape == expected.shape and np.allclose(found, expected, rtol=1e-5, atol=1e-5):
            right += 1
        else:
            wrong[case.name] = "differs"
    assert not wrong
    assert right >= 7
