"""Knows how quantised Conv, Gemm and MatMul (and the Add of a bias after it) become QConv, QGemm and QMatMul.
Does not know how those compute; `operators/quantised` does.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.weights import Work, bias_of, weight_of


def lower_gemm(island: Island, main: Node, work: Work) -> Lowered:
    """QGemm of a Gemm with constant B; alpha and beta 1."""
    if (main.number("alpha", 1.0), main.number("beta", 1.0)) != (1.0, 1.0):
        return "Gemm has alpha or beta"
    transposed = bool(main.integer("transB"))
    bias = main.inputs[2] if len(main.inputs) > 2 else ""
    return _qgemm(island, work, main, bias, transposed)


def lower_matmul(island: Island, main: Node, work: Work) -> Lowered:
    """QGemm where B is a constant matrix, else QMatMul."""
    shapes = [island.graph.tensors[name].shape for name in main.inputs]
    if min(len(shape) for shape in shapes) < 2:
        return "MatMul of a vector"
    if len(shapes[1]) == 2 and island.view.compile_time(main.inputs[1]):
        return _qgemm(island, work, main, "", transposed=False)
    return _qmatmul(island, main)


def lower_biased(island: Island, add: Node, work: Work) -> Lowered | None:
    """QGemm of an Add whose one operand is a MatMul of a constant matrix, and whose other is constant; else None."""
    if add.op != "Add":
        return None
    view = island.view
    for product, bias in (add.inputs, add.inputs[::-1]):
        matmul = view.producer.get(product)
        if matmul is None or matmul.op != "MatMul" or not view.read_once(product) or not view.compile_time(bias):
            continue
        columns, bias_shape = view.graph.tensors[matmul.inputs[1]].shape, view.graph.tensors[bias].shape
        if len(columns) != 2 or not view.compile_time(matmul.inputs[1]):
            continue
        if bias_shape and (bias_shape[-1] not in (1, columns[1]) or any(extent != 1 for extent in bias_shape[:-1])):
            continue
        if len(bias_shape) > len(view.graph.tensors[product].shape):
            continue
        return _qgemm(replace(island, main=matmul), work, matmul, bias, transposed=False, add=add)
    return None


def _qgemm(island: Island, work: Work, main: Node, bias: str, transposed: bool, add: Node | None = None) -> Lowered:
    a = island.stored(main.inputs[0])
    if isinstance(a, str):
        return a
    weight = weight_of(island.view, main.inputs[1], channel_axis=0 if transposed else 1)
    if isinstance(weight, str):
        return weight
    product = a.affine.scales() * weight.scale
    requant = island.product_requant(a.affine, weight.scale)
    if isinstance(requant, str):
        return requant
    if transposed:
        matrix = work.draft.constant(weight.array.T, f"{weight.node.inputs[0]}_transposed")
    else:
        matrix = weight.constant(work.draft)
    inputs = [a.value, matrix]
    used = [a.node, weight.node, *((add,) if add else ())]
    if bias:
        channels = weight.array.shape[0 if transposed else 1]
        stored = bias_of(island.view, bias, product, requant.scale, channels, wide=a.affine.wide)
        if isinstance(stored, str):
            return stored
        inputs.append(work.bias(main, bias, stored))
        used.extend(stored.nodes)
    attributes: dict[str, Attribute] = {
        "a_zero_point": a.affine.zero_point[0],
        "b_zero_point": weight.zero_point,
        "requant": requant,
        **weight.attributes,
    }
    return island.integer_node("QGemm", tuple(inputs), attributes, *used)


def _qmatmul(island: Island, main: Node) -> Lowered:
    """Both operands are activations, or constants of one scale."""
    a, b = (island.stored(name) for name in main.inputs)
    if isinstance(a, str):
        return a
    if isinstance(b, str):
        return b
    requant = island.product_requant(a.affine, b.affine.scales())
    if isinstance(requant, str):
        return requant
    attributes: dict[str, Attribute] = {
        "a_zero_point": a.affine.zero_point[0],
        "b_zero_point": b.affine.zero_point[0],
        "requant": requant,
    }
    return island.integer_node("QMatMul", (a.value, b.value), attributes, a.node, b.node)


def lower_conv(island: Island, main: Node, work: Work) -> Lowered:
    """QConv(X, W, B) with the clips in its requantisation."""
    x = island.stored(main.inputs[0])
    if isinstance(x, str):
        return x
    weight = weight_of(island.view, main.inputs[1], channel_axis=0)
    if isinstance(weight, str):
        return weight
    product = x.affine.scales() * weight.scale
    requant = island.product_requant(x.affine, weight.scale)
    if isinstance(requant, str):
        return requant
    inputs = [x.value, weight.constant(work.draft)]
    used = [x.node, weight.node]
    if len(main.inputs) > 2 and main.inputs[2]:
        channels = weight.array.shape[0]
        bias = bias_of(island.view, main.inputs[2], product, requant.scale, channels, wide=x.affine.wide)
        if isinstance(bias, str):
            return bias
        inputs.append(work.bias(main, main.inputs[2], bias))
        used.extend(bias.nodes)
    attributes = {**island.window_attributes(), **weight.attributes}
    zero_point = x.affine.zero_point[0]
    attributes.update(x_zero_point=zero_point, w_zero_point=weight.zero_point, pad_value=zero_point, requant=requant)
    return island.integer_node("QConv", tuple(inputs), attributes, *used)
