"""Inputs and outputs that are handed over channels last: the same numbers in the other order, and no step where a
convolution reads or writes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.frontend.border_layout import with_channels_last
from tilewright.testing.cluster import CLUSTER, registry_for


def _network(model: Any, *, pads: int = 1) -> Any:
    weight = np.random.default_rng(1).normal(size=(4, 3, 3, 3)).astype(np.float32)
    image, result = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 3, 6, 5]), ("y", [1, 4, 6, 5]))
    )
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[pads] * 4), helper.make_node("Relu", ["c"], ["y"])]
    return model(nodes, inputs=[image], outputs=[result], constants=[numpy_helper.from_array(weight, "w")])


@pytest.mark.parametrize("names", [("x",), ("y",), ("x", "y")])
def test_the_same_numbers_in_the_other_order(names: tuple[str, ...], loads: Any, model: Any, vocabulary: Any) -> None:
    graph = loads(_network(model)).graph
    turned = with_channels_last(graph, names)
    x = np.random.default_rng(2).normal(size=(1, 3, 6, 5)).astype(np.float32)
    (expected,) = (run(graph, {"x": x}, vocabulary)[name] for name in graph.outputs)
    given = np.ascontiguousarray(np.moveaxis(x, 1, -1)) if "x" in names else x
    got = run(turned, {"x": given}, vocabulary)["y"]
    assert np.array_equal(np.moveaxis(got, -1, 1) if "y" in names else got, expected)


def test_a_convolution_needs_no_step_for_it(model: Any) -> None:
    asked = Options(io_layouts={"x": "nhwc", "y": "nhwc"})
    made = Deployment(_network(model).SerializeToString(), CLUSTER.name, asked, registry=registry_for(CLUSTER))
    assert made.inputs["x"].shape == (1, 6, 5, 3)
    assert made.outputs["y"].shape == (1, 6, 5, 4)
    assert [node.op for node in made.rewritten.graph.nodes] == ["Transpose", "Conv", "Transpose"]


def test_an_output_that_others_read_keeps_their_order(loads: Any, model: Any, vocabulary: Any) -> None:
    made = _network(model)
    made.graph.node.append(helper.make_node("Sigmoid", ["y"], ["z"]))
    made.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 4, 6, 5]))
    graph = loads(made).graph
    turned = with_channels_last(graph, ("y",))
    x = np.ones((1, 3, 6, 5), np.float32)
    before, after = run(graph, {"x": x}, vocabulary), run(turned, {"x": x}, vocabulary)
    assert np.array_equal(after["z"], before["z"])
    assert after["y"].shape == (1, 6, 5, 4)


def test_no_channels_in_front_of_others(loads: Any, model: Any) -> None:
    graph = loads(model([helper.make_node("Relu", ["x"], ["y"])])).graph
    with pytest.raises(TilewrightError) as caught:
        with_channels_last(graph, ("x",))
    assert (caught.value.code, caught.value.exit_code) == ("TW1126", Exit.USAGE)


def test_a_name_that_nothing_has(model: Any) -> None:
    asked = Options(io_layouts={"image": "nhwc"})
    deployment = Deployment(_network(model).SerializeToString(), CLUSTER.name, asked, registry=registry_for(CLUSTER))
    with pytest.raises(TilewrightError, match="no input or output 'image'"):
        _ = deployment.imported
