"""Knows forms of ONNX's operators that the PULP world's files have and ONNX does not: axes as attributes whatever the
operator set, Gemm of batches, RMSNorm, numbers of integer networks left on Div and HardSwish. Does not know gradients.
"""

from __future__ import annotations

from tilewright_integer_dialect.file_nodes import FileNode
from tilewright_integer_dialect.float_nodes import FloatNodes
from tilewright_integer_dialect.training.gradients import number

NOTES = ("description",)  # attributes that say something to people
LEFT_OVER = ("Delta", "eps", "eta", "one_over_six", "six", "three")  # of integer networks that files were made beside


def with_axes(node: FileNode, nodes: FloatNodes) -> None:
    """Squeeze, Unsqueeze and reductions."""
    axes = node.words("axes")
    if axes is None:
        nodes.keep(node, without=NOTES)
        return
    nodes.keep(node, without=(*NOTES, "axes"), inputs=(node.inputs[0], nodes.axes(node, axes)))


def gemm(node: FileNode, nodes: FloatNodes) -> None:
    """Of matrices it is ONNX's; of batches each pair of matrices is multiplied, as MatMul does it."""
    if nodes.rank(node.inputs[0]) == nodes.rank(node.inputs[1]) == 2:
        nodes.keep(node, without=NOTES)
        return
    operands = []
    for name, flag in zip(node.inputs[:2], ("transA", "transB"), strict=True):
        axes = list(range(nodes.rank(name)))
        turned = [*axes[:-2], axes[-1], axes[-2]]
        operands.append(nodes.write(node, "Transpose", [name], perm=turned) if node.integer(flag, default=0) else name)
    alpha, beta = number(node, "alpha", 1.0), number(node, "beta", 1.0)
    added = node.inputs[2] if len(node.inputs) > 2 and node.inputs[2] and beta else ""
    steps = ["MatMul", *(["Mul"] if alpha != 1.0 else []), *(["Add"] if added else [])]
    value = nodes.write(node, "MatMul", operands, node.outputs[0] if steps[-1] == "MatMul" else "")
    if alpha != 1.0:
        factor = nodes.number(node, alpha)
        value = nodes.write(node, "Mul", [value, factor], node.outputs[0] if steps[-1] == "Mul" else "")
    if added:
        bias = added if beta == 1.0 else nodes.write(node, "Mul", [added, nodes.number(node, beta)])
        nodes.write(node, "Add", [value, bias], node.outputs[0])


def rms_norm(node: FileNode, nodes: FloatNodes) -> None:
    """x / sqrt(mean(x^2) + eps) * weight, along the last axis."""
    x, weight = node.inputs[:2]
    square = nodes.write(node, "Mul", [x, x])
    mean = nodes.write(node, "ReduceMean", [square, nodes.axes(node, [-1])], keepdims=1)
    sure = nodes.write(node, "Add", [mean, nodes.number(node, number(node, "eps", 1e-6))])
    normal = nodes.write(node, "Div", [x, nodes.write(node, "Sqrt", [sure])])
    nodes.write(node, "Mul", [normal, weight], node.outputs[0])


def left_over(node: FileNode, nodes: FloatNodes) -> None:
    """ONNX's operator, numbers of an integer network left out."""
    nodes.keep(node, without=(*NOTES, *LEFT_OVER))


def as_it_is(node: FileNode, nodes: FloatNodes) -> None:
    """Whatever else there is."""
    nodes.keep(node, without=NOTES)
