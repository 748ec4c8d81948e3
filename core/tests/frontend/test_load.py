"""The front end as a whole: real networks, every opset, how much it does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx.defs
import pytest
from counted import counted
from onnx import TensorProto, helper, numpy_helper

from networks import network_file
from tilewright.ir.graphs.model_formats import Limits

OPSETS = range(7, onnx.defs.onnx_opset_version() + 1)


@pytest.mark.parametrize(
    ("name", "inputs", "outputs", "nodes"),
    [
        ("kws_int8", (1, 49, 10, 1), (1, 12), 68),
        ("resnet8_int8", (1, 32, 32, 3), (1, 10), 75),
        ("vww_int8", (1, 96, 96, 3), (1, 2), 176),
        ("ad_int8", (1, 640), (1, 640), 69),
        ("resnet8_f32", (1, 32, 32, 3), (1, 10), 25),
    ],
)
def test_reference_networks(loads, name, inputs, outputs, nodes):
    loads(network_file("ad_int8"))  # onnx itself is imported by then
    model = network_file(name)
    imported, calls = counted(lambda: loads(model))
    assert calls < 1000 * nodes
    graph = imported.graph
    assert graph.tensors[graph.inputs[0]].shape == inputs
    assert graph.tensors[graph.outputs[0]].shape == outputs
    assert imported.onnx_nodes == nodes and imported.diagnostics == ()
    assert not {"Identity", "Dropout", "Constant", "Flatten", "Squeeze", "Unsqueeze"} & {n.op for n in graph.nodes}


def floats(name, shape, seed):
    return numpy_helper.from_array(np.random.default_rng(seed).normal(size=shape).astype(np.float32), name)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


WEIGHTS = {"w": (4, 2, 3, 3), "b": (4,), "fc": (4, 3), "fb": (3,), "m": (4,), "o": (4,)}


def cnn(opset: int) -> onnx.ModelProto:
    """One network, spelt as each opset has it: parameters are attributes first, and inputs later."""
    constants = [floats(name, shape, seed) for seed, (name, shape) in enumerate(WEIGHTS.items(), 1)]
    constants += [numpy_helper.from_array(np.linspace(0.5, 1.5, 4, dtype=np.float32), name) for name in ("g", "v")]

    def spelt(since, op, source, target, attributes, inputs):
        """`attributes` before opset `since`, `inputs` (name, array) from then on."""
        if opset < since:
            return helper.make_node(op, [source], [target], **attributes)
        constants.extend(inputs)
        return helper.make_node(op, [source, *(tensor.name for tensor in inputs)], [target])

    low, high = (numpy_helper.from_array(np.array(value, np.float32), name) for name, value in (("lo", -1), ("hi", 2)))
    pads = [0, 0, 1, 1, 0, 0, 1, 1]
    nodes = [
        spelt(11, "Pad", "x", "padded", {"pads": pads}, [ints("pads", *pads)]),
        helper.make_node("Conv", ["padded", "w", "b"], ["c"], kernel_shape=[3, 3]),
        helper.make_node("BatchNormalization", ["c", "g", "o", "m", "v"], ["n"], epsilon=1e-3),
        spelt(11, "Clip", "n", "clipped", {"min": -1.0, "max": 2.0}, [low, high]),
        helper.make_node("MaxPool", ["clipped"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        spelt(
            10,
            "Slice",
            "p",
            "s",
            {"starts": [0, 1], "ends": [3, 1000], "axes": [2, 3]},
            [ints("st", 0, 1), ints("en", 3, 1000), ints("sa", 2, 3)],
        ),
        helper.make_node("GlobalAveragePool", ["s"], ["a"]),
        spelt(13, "Squeeze", "a", "q", {"axes": [2, 3]}, [ints("qa", 2, 3)]),
        helper.make_node("Dropout", ["q"], ["d", "mask"], **({"ratio": 0.3} if opset < 12 else {})),
        helper.make_node("Gemm", ["d", "fc", "fb"], ["f"]),
        spelt(13, "Unsqueeze", "f", "u", {"axes": [0]}, [ints("ua", 0)]),
        helper.make_node("Flatten", ["u"], ["l"], axis=2),
        helper.make_node("Softmax", ["l"], ["y"], axis=1),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])
    graph = helper.make_graph(nodes, "cnn", [x], [y], initializer=constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run(graph, vocabulary, x):
    values = {**graph.constants, "x": x}
    for site in graph.sites():
        inputs = [values[name] if name else None for name in site.node.inputs]
        values.update(zip(site.node.outputs, vocabulary[site.node.op].reference(site, inputs), strict=False))
    return values["y"]


@pytest.fixture(scope="module")
def expected(loads, vocabulary):
    """What onnxruntime computes for opset 17, and the input."""
    onnxruntime = pytest.importorskip("onnxruntime")
    x = np.random.default_rng(9).normal(size=(1, 2, 8, 8)).astype(np.float32)
    session = onnxruntime.InferenceSession(cnn(17).SerializeToString(), providers=["CPUExecutionProvider"])
    return x, session.run(None, {"x": x})[0]


@pytest.mark.parametrize("opset", OPSETS)
def test_one_network_in_every_opset(loads, vocabulary, expected, opset):
    x, y = expected
    graph = loads(cnn(opset), dims={"N": 1}).graph
    np.testing.assert_allclose(run(graph, vocabulary, x), y, rtol=1e-5, atol=1e-6)


def test_opset_after_the_newest(refuses):
    made = cnn(OPSETS[-1])
    made.opset_import[0].version += 1
    refuses(made, "TW1204")


@pytest.mark.parametrize("count", [2000, 2001])
def test_a_chain_at_the_limit_is_quick(loads, refuses, model, count):
    limits = Limits(nodes=2000)
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(count)]
    nodes[0].input[0], nodes[-1].output[0] = "x", "y"
    made = model(nodes)
    if count > limits.nodes:
        _, calls = counted(lambda: refuses(made, "TW1203", limits=limits))
    else:
        imported, calls = counted(lambda: loads(made, limits=limits))
        assert len(imported.graph.nodes) == count
    assert calls < 500 * count


def test_import_is_deterministic(loads):
    first, second = (loads(cnn(13), dims={"N": 1}).graph for _ in range(2))
    assert first == second and list(first.tensors) == list(second.tensors)


def test_few_modules_import_onnx():
    """Beside those that write a quantised network."""
    folder = Path(__file__).parents[2] / "src" / "tilewright"
    files = [path for path in folder.rglob("*.py") if path.parent.name != "quantize"]
    users = [path.name for path in files if "import onnx\n" in path.read_text(encoding="utf-8")]
    assert sorted(users) == ["functions.py", "opsets.py", "other_runtime.py", "reader.py"]
