"""Knows the gradients that ONNX Runtime's training operators compute, as ONNX's own operators, and the step of SGD.
Does not know in which graph they stand. Sources: the schemas of the domain com.microsoft, and calculus.
"""

from __future__ import annotations

import math
from typing import Any

from tilewright_integer_dialect.file_nodes import FileNode, OddNode
from tilewright_integer_dialect.float_nodes import FloatNodes


def sgd(node: FileNode, nodes: FloatNodes) -> None:
    """weight - lr * gradient."""
    weight, gradient = node.inputs[:2]
    step = nodes.write(node, "Mul", [gradient, nodes.number(node, number(node, "lr", 0.01))])
    nodes.write(node, "Sub", [weight, step], node.outputs[0])


def accumulator(node: FileNode, nodes: FloatNodes) -> None:
    """The sum of gradients: buffer + gradient."""
    nodes.write(node, "Add", node.inputs[:2], node.outputs[0])


def relu_grad(node: FileNode, nodes: FloatNodes) -> None:
    """dY where X is above 0."""
    gradient, x = node.inputs[:2]
    above = nodes.write(node, "Greater", [x, nodes.number(node, 0.0)])
    nodes.write(node, "Where", [above, gradient, nodes.number(node, 0.0)], node.outputs[0])


def gelu_grad(node: FileNode, nodes: FloatNodes) -> None:
    """dY * (Phi(x) + x * phi(x)), the normal distribution and its density."""
    gradient, x = node.inputs[:2]
    half = nodes.number(node, 0.5)
    scaled = nodes.write(node, "Mul", [x, nodes.number(node, math.sqrt(0.5))])
    error = nodes.write(node, "Erf", [scaled])
    above = nodes.write(node, "Add", [nodes.write(node, "Mul", [error, half]), half])
    square = nodes.write(node, "Mul", [scaled, scaled])
    bell = nodes.write(node, "Exp", [nodes.write(node, "Neg", [square])])
    density = nodes.write(node, "Mul", [bell, nodes.number(node, 1 / math.sqrt(2 * math.pi))])
    slope = nodes.write(node, "Add", [above, nodes.write(node, "Mul", [x, density])])
    nodes.write(node, "Mul", [gradient, slope], node.outputs[0])


def softmax_grad(node: FileNode, nodes: FloatNodes) -> None:
    """(dY - sum(dY * Y)) * Y along the axis."""
    gradient, y = node.inputs[:2]
    axes = nodes.axes(node, [node.integer("axis", default=-1)])
    total = nodes.write(node, "ReduceSum", [nodes.write(node, "Mul", [gradient, y]), axes], keepdims=1)
    moved = nodes.write(node, "Sub", [gradient, total])
    nodes.write(node, "Mul", [moved, y], node.outputs[0])


def layer_norm_grad(node: FileNode, nodes: FloatNodes) -> None:
    """The gradient of X, and, where they are outputs, those of the scale and the bias. What was kept of the forward
    step is computed again: files differ in what they keep.
    """
    gradient, x, scale = node.inputs[:3]
    rank = nodes.rank(x)
    first = node.integer("axis", default=-1) % rank
    axes = nodes.axes(node, range(first, rank))
    mean = nodes.write(node, "ReduceMean", [x, axes], keepdims=1)
    centred = nodes.write(node, "Sub", [x, mean])
    variance = nodes.write(node, "ReduceMean", [nodes.write(node, "Mul", [centred, centred]), axes], keepdims=1)
    sure = nodes.write(node, "Add", [variance, nodes.number(node, number(node, "epsilon", 1e-5))])
    root = nodes.write(node, "Sqrt", [sure])
    normal = nodes.write(node, "Div", [centred, root])
    scaled = nodes.write(node, "Mul", [gradient, scale])
    own = nodes.write(node, "ReduceMean", [scaled, axes], keepdims=1)
    along = nodes.write(node, "ReduceMean", [nodes.write(node, "Mul", [scaled, normal]), axes], keepdims=1)
    moved = nodes.write(
        node, "Sub", [nodes.write(node, "Sub", [scaled, own]), nodes.write(node, "Mul", [normal, along])]
    )
    nodes.write(node, "Div", [moved, root], node.outputs[0])
    outer = nodes.axes(node, range(first))
    for output, product in zip(node.outputs[1:3], ((gradient, normal), (gradient,)), strict=False):
        if output:
            each = nodes.write(node, "Mul", product) if len(product) > 1 else gradient
            nodes.write(node, "ReduceSum", [each, outer], output, keepdims=0)


def cross_entropy(node: FileNode, nodes: FloatNodes) -> None:
    """A loss that hands on the logarithms of probabilities alone has them for its only output in these files."""
    from onnx import helper

    words = {each.name: helper.get_attribute_value(each) for each in node.raw.attribute if each.name != "description"}
    outputs = [name for name in node.outputs if name]
    logits = nodes.shapes.get(node.inputs[0])
    if len(outputs) == 1 and logits is not None and nodes.shapes.get(outputs[0]) == logits and len(logits) > 1:
        outputs = [nodes.fresh(f"{outputs[0]}_loss"), outputs[0]]
    nodes.nodes.append(helper.make_node(node.op, list(node.inputs), outputs, name=node.name, **words))


def cross_entropy_grad(node: FileNode, nodes: FloatNodes) -> None:
    """exp(log_prob) - onehot(labels), over the count of labels where the loss is a mean, times dY. A node without dY
    has another share of the count in its place: so those who left it out of their files compute it.
    """
    gradient, log_prob, labels = node.inputs[:3] if len(node.inputs) > 2 else ("", *node.inputs)
    shape = nodes.shapes.get(log_prob)
    if shape is None or len(shape) != 2 or len(node.inputs) > 3:
        raise OddNode("log_prob must be declared as [labels, classes], and classes have no weights")
    reduction = node.text("reduction", "mean")
    if reduction not in ("mean", "sum"):
        raise OddNode(f"reduction {reduction!r}")
    share = nodes.write(node, "Exp", [log_prob])
    depth, ends = nodes.constant(node, _int64([shape[1]])), nodes.constant(node, _float32([0, 1]))
    hot = nodes.write(node, "OneHot", [labels, depth, ends], axis=-1)
    moved = nodes.write(node, "Sub", [share, hot])
    share_of_mean = 1 / shape[0] if reduction == "mean" else 1.0
    factor = nodes.number(node, share_of_mean if gradient else share_of_mean / shape[0])
    if gradient:
        factor = nodes.write(node, "Mul", [gradient, factor])
    nodes.write(node, "Mul", [moved, factor], node.outputs[0])


def number(node: FileNode, name: str, default: float) -> float:
    """An attribute that is a float."""
    result = next((each for each in node.raw.attribute if each.name == name), None)
    return default if result is None else float(result.f if result.f or not result.i else result.i)


def _int64(values: Any) -> Any:
    import numpy as np

    return np.array(values, np.int64)


def _float32(values: Any) -> Any:
    import numpy as np

    return np.array(values, np.float32)
