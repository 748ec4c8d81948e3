"""What Resize becomes: repetition, two neighbours on a line, gathered elements, weighted sums; what is refused."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.graphs.graph import Graph
from tilewright.operators.convolution.resize import RULES, Filter, Resized, nearest, outside, positions, taps
from tilewright.operators.families import FAMILIES

OPERATORS = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
FLOAT, BYTE = TensorProto.FLOAT, TensorProto.INT8


def imported(
    *,
    scales: list[float] | None = None,
    sizes: list[int] | None = None,
    roi: list[float] | None = None,
    dtype: int = FLOAT,
    opset: int = 19,
    **attributes: Any,
) -> Graph:
    """Resize of [1, 2, 4, 6]."""
    given = {"roi": (roi, np.float32), "scales": (scales, np.float32), "sizes": (sizes, np.int64)}
    constants = [
        numpy_helper.from_array(np.array(values, kind), name) for name, (values, kind) in given.items() if values
    ]
    names = ["x", *(name if values else "" for name, (values, _) in given.items())]
    node = helper.make_node("Resize", names, ["y"], **attributes)
    x = helper.make_tensor_value_info("x", dtype, [1, 2, 4, 6])
    graph = helper.make_graph([node], "g", [x], [helper.make_tensor_value_info("y", dtype, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return load(model.SerializeToString(), operators=OPERATORS).graph


@pytest.mark.parametrize(
    ("given", "ops"),
    [
        ({"scales": [1, 1, 2, 3]}, ["Upsample"]),
        ({"scales": [1, 1, 2, 3], "mode": "linear"}, ["ResizeLinear"]),
        ({"sizes": [1, 2, 2, 3], "nearest_mode": "ceil"}, ["Slice", "Slice"]),
        ({"sizes": [1, 2, 5, 7], "nearest_mode": "ceil"}, ["Gather", "Gather"]),
        ({"scales": [1, 1, 2, 3], "mode": "cubic"}, ["Resample", "Resample"]),
        ({"scales": [1, 1, 0.5, 1], "mode": "linear", "antialias": 1}, ["Resample"]),
        ({"scales": [2, 1, 1, 1], "mode": "linear"}, ["Resample"]),
        ({"sizes": [8, 3], "axes": [2, -1], "mode": "linear"}, ["ResizeLinear"]),
        ({"sizes": [5], "axes": [3], "mode": "linear", "exclude_outside": 1}, ["Resample"]),
    ],
)
def test_what_it_becomes(given: dict[str, Any], ops: list[str]) -> None:
    assert [node.op for node in imported(**given).nodes] == ops


def test_the_first_version_takes_the_element_above_where_the_image_shrinks() -> None:
    """The case `resize_downsample_nearest` of ONNX 1.5: 1 2 3 4 by 0.6 is 1 3."""
    x = helper.make_tensor_value_info("x", FLOAT, [1, 1, 2, 4])
    scales = numpy_helper.from_array(np.array([1, 1, 0.6, 0.6], np.float32), "scales")
    ends = [helper.make_tensor_value_info("y", FLOAT, None)]
    graph = helper.make_graph([helper.make_node("Resize", ["x", "scales"], ["y"])], "g", [x], ends, [scales])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=8)
    loaded = load(model.SerializeToString(), operators=OPERATORS).graph
    given = {"x": np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 4)}
    assert run(loaded, given, OPERATORS)["y"].tolist() == [[[[1, 3]]]]


def test_bytes_are_moved_to_any_size() -> None:
    assert imported(sizes=[1, 2, 7, 5], dtype=BYTE).tensors["y"].shape == (1, 2, 7, 5)


@pytest.mark.parametrize(("policy", "shape"), [("not_larger", (1, 2, 5, 8)), ("not_smaller", (1, 2, 7, 11))])
def test_the_aspect_ratio_is_kept(policy: str, shape: tuple[int, ...]) -> None:
    graph = imported(sizes=[7, 8], axes=[2, 3], keep_aspect_ratio_policy=policy)
    assert graph.tensors["y"].shape == shape


def test_a_crop_has_a_value_outside() -> None:
    graph = imported(
        sizes=[1, 2, 3, 3],
        roi=[0, 0, -0.5, 0.2, 1, 1, 0.5, 0.8],
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=10.0,
    )
    assert [node.op for node in graph.nodes] == ["Resample", "Resample", "Where"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "neither scales nor sizes"),
        ({"scales": [1, 1, 2]}, "3 scales or sizes for 4 axes"),
        ({"scales": [1, 1, 2, 2], "mode": "sinc"}, "'sinc' is none of"),
        ({"scales": [1, 1, 0.1, 1]}, "it makes"),
        ({"scales": [1, 1, float("inf"), 1]}, "holds inf"),
        ({"scales": [2], "axes": [4]}, "are not axes"),
        ({"sizes": [2, 2], "axes": [2, 2]}, "for 2 axes"),
        ({"scales": [1, 1, 2, 2], "coordinate_transformation_mode": "polar"}, "'polar'"),
        ({"sizes": [1, 2, 2, 2], "keep_aspect_ratio_policy": "golden"}, "'golden'"),
        ({"scales": [1, 1, 2, 2], "mode": "cubic", "dtype": BYTE}, "must be f32"),
        ({"sizes": [1, 2, 2, 2], "coordinate_transformation_mode": "tf_crop_and_resize"}, "roi has 0"),
        (
            {"scales": [1, 1, 2, 2], "mode": "linear", "coordinate_transformation_mode": "tf_half_pixel_for_nn"},
            "not 'linear'",
        ),
    ],
)
def test_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        imported(**given)


DOWN = Resized(inputs=4, size=2, scale=0.6)
UP = Resized(inputs=2, size=4, scale=2.0)


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("asymmetric", [0, 0.5, 1, 1.5]),
        ("half_pixel", [-0.25, 0.25, 0.75, 1.25]),
        ("half_pixel_symmetric", [-0.25, 0.25, 0.75, 1.25]),
        ("pytorch_half_pixel", [-0.25, 0.25, 0.75, 1.25]),
        ("align_corners", [0, 1 / 3, 2 / 3, 1]),
        ("tf_crop_and_resize", [0, 1 / 3, 2 / 3, 1]),
    ],
)
def test_positions(rule: str, wanted: list[float]) -> None:
    assert positions(UP, rule) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("rounding", "wanted"),
    [
        ("floor", [0, 0, 1, 1]),
        ("ceil", [0, 1, 1, 1]),
        ("round_prefer_floor", [0, 0, 1, 1]),
        ("round_prefer_ceil", [0, 1, 1, 1]),
    ],
)
def test_nearest_stays_inside(rounding: str, wanted: list[int]) -> None:
    assert nearest(UP, "asymmetric", rounding).tolist() == wanted


def test_the_nearest_by_tensorflows_old_rule() -> None:
    line = Resized(inputs=6, size=4, scale=2 / 3)
    assert nearest(line, "tf_half_pixel_for_nn", "floor").tolist() == [0, 2, 3, 5]  # of 0.75, 2.25, 3.75, 5.25


def test_outside_a_crop() -> None:
    line = Resized(inputs=4, size=3, scale=0.75, roi=(-0.5, 1.0))
    assert outside(line, "tf_crop_and_resize").tolist() == [True, False, False]
    assert not outside(line, "half_pixel").any()


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("exclude", [False, True])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("rule", sorted(RULES))
def test_weights_add_up_to_1(rule: str, mode: str, exclude: bool, antialias: bool) -> None:
    for line in (DOWN, UP, Resized(inputs=7, size=3, scale=3 / 7), Resized(inputs=1, size=5, scale=5.0)):
        first, weights = taps(line, rule, Filter(mode=mode, antialias=antialias, exclude_outside=exclude))
        assert np.sum(weights, axis=1) == pytest.approx(np.ones(line.size), abs=1e-6)
        assert np.all(first >= 0) and np.all(first + weights.shape[1] <= line.inputs)


def test_weights_of_a_line_and_of_a_cubic() -> None:
    first, weights = taps(UP, "half_pixel", Filter(mode="linear"))
    assert first.tolist() == [0, 0, 0, 0]
    assert weights.tolist() == [[1, 0], [0.75, 0.25], [0.25, 0.75], [0, 1]]
    _, weights = taps(Resized(inputs=9, size=18, scale=2.0), "half_pixel", Filter(mode="cubic"))
    assert weights[8] == pytest.approx([-0.03515625, 0.26171875, 0.87890625, -0.10546875])
