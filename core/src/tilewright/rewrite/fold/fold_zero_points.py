"""Knows the pass that moves the zero point of an input into the bias: sum((x - z) * w) = sum(x * w) - z * sum(w).
Does not touch `pad_value`: padding still reads the stored value that means zero. Bit-equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.integer_sites import zero_points
from tilewright.rewrite.edit import Draft

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """Names of one operator's attributes, and which axis of its weight is the output channel."""

    x_zero_point: str
    w_zero_point: str
    channel_axis: int


_FORMS: Mapping[str, _Form] = MappingProxyType(
    {
        "QConv": _Form(x_zero_point="x_zero_point", w_zero_point="w_zero_point", channel_axis=0),
        "QGemm": _Form(x_zero_point="a_zero_point", w_zero_point="b_zero_point", channel_axis=1),
    }
)


def _apply(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    for node in graph.nodes:
        form = _FORMS.get(node.op)
        if form is not None and node.integer(form.x_zero_point) and node.inputs[1] in graph.constants:
            folded = _folded(draft, node, form)
            if folded is not None:
                draft.replace(node, folded)
    return PassResult(graph=draft.finish())


def _folded(draft: Draft, node: Node, form: _Form) -> Node | None:
    """The node with zero point 0 and another bias; None where the bias would not fit 32 bits."""
    constants = draft.graph.constants
    channels_first = np.moveaxis(constants[node.inputs[1]].astype(np.int64), form.channel_axis, 0)
    rows = channels_first.reshape(channels_first.shape[0], -1)
    zeros = np.array(zero_points(node, form.w_zero_point), np.int64)
    sums = rows.sum(axis=1) - zeros * rows.shape[1]  # of w - w_zero_point, for every output channel
    bias_name = node.inputs[2] if len(node.inputs) > 2 else ""
    if bias_name and bias_name not in constants:
        return None
    bias = constants[bias_name].astype(np.int64) if bias_name else np.zeros(sums.shape, np.int64)
    moved = bias - node.integer(form.x_zero_point) * sums
    low, high = DType.I32.limits
    if moved.min(initial=0) < low or moved.max(initial=0) > high:
        return None
    name = draft.constant(moved.astype(np.int32), f"{bias_name or node.inputs[1]}_folded")
    attributes = {**node.attributes, form.x_zero_point: 0}
    return replace(node, inputs=(*node.inputs[:2], name), attributes=attributes)


PASS = GraphPass(
    name="fold-zero-points",
    summary="the zero point of a QConv or QGemm input becomes part of its bias",
    apply=_apply,
    roots=tuple(_FORMS),
    after=("lower-quantised", "remove-dead-channels"),
)
