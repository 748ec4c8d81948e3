"""Declared types hold, or the file is wrong; but for extents that onnx's own inference rounds up behind a pool."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

IMAGE = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 7, 7])
POOL = {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [0, 0, 2, 2]}  # a third window would begin in the padding


def _pooled(model, extents, *, ceil_mode=1, type_=TensorProto.FLOAT, between=None):
    """Pool, Relu; `extents` declared for the output, `between` for the pool's."""
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], **POOL, ceil_mode=ceil_mode),
        helper.make_node("Relu", ["p"], ["y"]),
    ]
    network = model(nodes, inputs=[IMAGE], outputs=[helper.make_tensor_value_info("y", type_, extents)])
    if between:
        network.graph.value_info.append(helper.make_tensor_value_info("p", TensorProto.FLOAT, between))
    return network


def test_extents_behind_a_rounded_pool_are_a_warning(loads, model) -> None:
    found = loads(_pooled(model, [1, 1, 4, 4], between=[1, 1, 4, 4]))
    assert found.graph.tensors["y"].shape == (1, 1, 3, 3)
    assert [(each.code, each.severity) for each in found.diagnostics] == [("TW1225", "warning")]
    assert "2 value(s)" in found.diagnostics[0].message


def test_right_extents_say_nothing(loads, model) -> None:
    assert not loads(_pooled(model, [1, 1, 3, 3], between=[1, 1, 3, 3])).diagnostics


@pytest.mark.parametrize(
    ("extents", "options"),
    [
        ([1, 1, 4, 4], {"ceil_mode": 0}),
        ([1, 16], {}),
        ([1, 1, 4, 4], {"type_": TensorProto.INT8}),
    ],
)
def test_what_no_rounding_explains_is_wrong(refuses, model, extents, options) -> None:
    refuses(_pooled(model, extents, **options), "TW1212")
