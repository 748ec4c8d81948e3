"""Knows the pass that puts BatchNormalization into the weights of the Conv or Gemm before it.
Does not keep float bits: weights are rounded once more, so results are equal inside the float error model only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins

Doubles = npt.NDArray[np.float64]


def _apply(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    view = GraphView.of(graph)
    for norm in graph.nodes:
        if norm.op != "BatchNormalization":
            continue
        main = view.producer.get(norm.inputs[0])
        if main is not None and _fits(view, main, norm):
            _fold(draft, main, norm)
    return PassResult(graph=draft.finish())


def _fits(view: GraphView, main: Node, norm: Node) -> bool:
    """Weights and bias constant, and the result read by the norm alone."""
    constants = view.graph.constants
    if main.op not in ("Conv", "Gemm") or "clip_low" in main.attributes or not view.read_once(main.outputs[0]):
        return False
    if main.op == "Gemm" and (main.number("alpha", 1.0), main.number("beta", 1.0)) != (1.0, 1.0):
        return False
    if view.graph.tensors[main.inputs[1]].dtype is not DType.F32:
        return False  # weights of 16 bits would be rounded once more
    bias = main.inputs[2] if len(main.inputs) > 2 else ""
    if bias and (bias not in constants or constants[bias].size not in (1, constants[norm.inputs[1]].size)):
        return False
    return main.inputs[1] in constants and all(name in constants for name in norm.inputs[1:])


def _fold(draft: Draft, main: Node, norm: Node) -> None:
    constants = draft.graph.constants
    gamma, beta, mean, variance = (constants[name].astype(np.float64) for name in norm.inputs[1:5])
    factor = gamma / np.sqrt(variance + norm.number("epsilon", 1e-5))
    weight = constants[main.inputs[1]].astype(np.float64)
    by_row = main.op == "Conv" or main.integer("transB") == 1
    shape = (-1, *(1,) * (weight.ndim - 1)) if by_row else (1, -1)
    bias_name = main.inputs[2] if len(main.inputs) > 2 else ""
    bias: Doubles = constants[bias_name].reshape(-1).astype(np.float64) if bias_name else np.zeros(1)
    new_weight = (weight * factor.reshape(shape)).astype(np.float32)
    new_bias = ((bias - mean) * factor + beta).astype(np.float32)
    inputs = (
        main.inputs[0],
        draft.constant(new_weight, f"{main.inputs[1]}_normalised"),
        draft.constant(new_bias, f"{bias_name or norm.inputs[2]}_normalised"),
    )
    draft.replace(main)
    draft.replace(norm, replace(main, inputs=inputs, outputs=norm.outputs, origin=origins(main, norm)))


PASS = GraphPass(
    name="fold-batch-norm",
    summary="BatchNormalization becomes part of the Conv or Gemm before it",
    apply=_apply,
    after=("fold-constants", "fuse-matmul-add"),
    before=("lower-quantised", "fuse-activation"),
)
