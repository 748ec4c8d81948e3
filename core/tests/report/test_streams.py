"""What calls of other hops would cost, and the memory beside that of whole windows."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.report.plain_text import plain
from tilewright.report.streams import hop_costs, hop_parts, hops_json
from tilewright.testing.cluster import CLUSTER, registry_for


def deployment(slide: str, pads: tuple[int, int] = (0, 0)) -> Deployment:
    """Two convolutions over 20 elements, the first with stride 2."""
    first, second = (np.ones(shape, np.float32) for shape in ((3, 2, 4), (2, 3, 3)))
    nodes = [
        helper.make_node("Conv", ["x", "first"], ["h"], strides=[2]),
        helper.make_node("Conv", ["h", "second"], ["y"], pads=list(pads)),
    ]
    shapes = {"x": [1, 2, 20], "y": [1, 2, 7 + sum(pads)]}
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    weights = [numpy_helper.from_array(first, "first"), numpy_helper.from_array(second, "second")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Deployment(model.SerializeToString(), CLUSTER.name, Options(slide=slide), registry_for(CLUSTER))


def test_nothing_is_said_where_nothing_slides() -> None:
    still = deployment("")
    assert (hop_costs(still), list(hop_parts(still, ())), hops_json(still, ())) == ((), [], {})


@pytest.mark.slow
def test_hops_are_multiples_of_the_strides_and_the_one_that_is_asked_for() -> None:
    sliding = deployment("x[2]=6")
    costs = hop_costs(sliding)
    assert [cost.hop for cost in costs] == [2, 4, 6, 8]
    text = plain(hop_parts(sliding, costs))
    assert "> 6 " in text and "with whole windows" in text
    assert "trained without" not in text


@pytest.mark.slow
def test_what_padding_costs_is_said() -> None:
    sliding = deployment("x[2]=2", (1, 1))
    assert "trained without it, layers take 42 products" in plain(hop_parts(sliding, hop_costs(sliding)))


@pytest.mark.slow
def test_the_same_as_json() -> None:
    sliding = deployment("x[2]=2")
    found = hops_json(sliding, hop_costs(sliding))["slide"]
    assert found["calls_to_fill"] == 10
    assert found["hops"][0] == {
        "hop": 2,
        "products": 42,
        "state_bytes": found["hops"][0]["state_bytes"],
        "least": 42,
        "unpadded": 42,
        "phases": 1,
    }
    assert set(found["stream_bytes"]) == set(found["window_bytes"])


def test_a_hop_between_strides_has_phases() -> None:
    assert [(cost.hop, cost.phases) for cost in hop_costs(deployment("x[2]=3"))][:3] == [(2, 1), (3, 2), (4, 1)]
