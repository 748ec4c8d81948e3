"""What the pass does to a graph and to a network, and that outputs stay as they were."""

import tilewright
from tilewright.api.graph import DType
from tilewright.api.passes import PassContext
from tilewright.api.testing import Sketch, vocabulary

from ${module} import tilewright_graph_passes


def clips(*limits):
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (4, 6))
    for limit in limits:
        value = sketch.node("Clip", (value,), {"min": 0.0, "max": limit})
    last = sketch.node("Tanh", (value,))
    return sketch.finish(last)


def after(graph):
    (graph_pass,) = tilewright_graph_passes()
    return graph_pass.apply(graph, PassContext(operators=vocabulary())).graph.verify()


def test_a_repeated_clip_is_gone():
    assert [node.op for node in after(clips(6.0, 6.0, 6.0)).nodes] == ["Clip", "Tanh"]


def test_clips_with_other_limits_stay():
    graph = clips(6.0, 1.0)
    assert after(graph) == graph


def test_a_network_is_right(network):
    compiled = tilewright.compile(network, "generic", name="network")
    assert "${name}.repeated-clips" in [record.name for record in compiled.deployment.rewritten.trail]
    assert compiled.validate(on="host").passed
