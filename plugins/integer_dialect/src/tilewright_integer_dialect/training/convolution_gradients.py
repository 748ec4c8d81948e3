"""Knows ConvGrad: the gradients of a convolution's image, weights and bias, as convolutions. Does not know other
gradients.
"""

from __future__ import annotations

from typing import Any

from tilewright_integer_dialect.file_nodes import FileNode, OddNode
from tilewright_integer_dialect.float_nodes import FloatNodes

Shapes = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # of dY, X and W


def conv_grad(node: FileNode, nodes: FloatNodes) -> None:
    """dY, X, W; outputs dX, dW, dB, any of them left out."""
    gradient, x, w = node.inputs[:3]
    outputs = (*node.outputs, "", "", "")[:3]
    shapes = [nodes.shapes.get(name) for name in (gradient, x, w)]
    if any(shape is None for shape in shapes):
        raise OddNode("the shapes of dY, X and W must be declared")
    y_shape, x_shape, w_shape = (tuple(shape or ()) for shape in shapes)
    spatial = len(w_shape) - 2
    words: dict[str, Any] = {
        "strides": list(node.words("strides") or (1,) * spatial),
        "dilations": list(node.words("dilations") or (1,) * spatial),
        "pads": list(node.words("pads") or (0,) * 2 * spatial),
    }
    if node.text("auto_pad", "NOTSET") != "NOTSET":
        raise OddNode("auto_pad")
    group = node.integer("group", default=1)
    if outputs[0]:
        _image(node, nodes, (gradient, w), (y_shape, x_shape, w_shape), {**words, "group": group}, outputs[0])
    if outputs[1] and group != 1:
        raise OddNode(f"gradients of the weights of {group} groups")
    if outputs[1]:
        _weights(node, nodes, (gradient, x), (y_shape, x_shape, w_shape), words, outputs[1])
    if outputs[2]:
        axes = nodes.axes(node, [0, *range(2, spatial + 2)])
        nodes.write(node, "ReduceSum", [gradient, axes], outputs[2], keepdims=0)


def _image(
    node: FileNode,
    nodes: FloatNodes,
    names: tuple[str, str],
    shapes: tuple[Any, Any, Any],
    words: dict[str, Any],
    output: str,
) -> None:
    """Back through the window: a transposed convolution, its end padded to the extents of X."""
    y_shape, x_shape, w_shape = shapes
    spatial = range(len(w_shape) - 2)
    pads, strides, dilations = words["pads"], words["strides"], words["dilations"]
    reached = [
        (y_shape[2 + axis] - 1) * strides[axis] + (w_shape[2 + axis] - 1) * dilations[axis] + 1
        - pads[axis] - pads[len(spatial) + axis]
        for axis in spatial
    ]  # fmt: skip
    missing = [x_shape[2 + axis] - reached[axis] for axis in spatial]
    nodes.write(node, "ConvTranspose", names, output, output_padding=missing, **words)


def _weights(
    node: FileNode, nodes: FloatNodes, names: tuple[str, str], shapes: Shapes, words: dict[str, Any], output: str
) -> None:
    """X seen through dY: images and channels change places, strides and dilations, too. What the stride left over at
    the end of X is cut off.
    """
    gradient, x = names
    _, _, w_shape = shapes
    axes = list(range(len(w_shape)))
    turned = [1, 0, *axes[2:]]
    channels = nodes.write(node, "Transpose", [x], perm=turned)
    windows = nodes.write(node, "Transpose", [gradient], perm=turned)
    seen = nodes.write(
        node, "Conv", [channels, windows], strides=words["dilations"], dilations=words["strides"], pads=words["pads"]
    )
    cut = [nodes.axes(node, values) for values in ([0] * len(axes[2:]), w_shape[2:], axes[2:])]
    kept = nodes.write(node, "Slice", [seen, *cut])
    nodes.write(node, "Transpose", [kept], output, perm=turned)
