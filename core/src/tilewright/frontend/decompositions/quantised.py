"""Knows DynamicQuantizeLinear, written with others: the scale and the zero point are of the values at hand.
Does not know how values are quantised (`QuantizeLinear`).

Source: ONNX DynamicQuantizeLinear-11. Its own body divides 0 by 0 where all values are 0; there the scale is 1, as in
onnxruntime.
"""

from __future__ import annotations

import numpy as np

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode

_LARGEST = 255.0


def _dynamic_quantize(node: OnnxNode, graph: Conversion) -> None:
    """From the smallest to the largest value, and 0, become 0 to 255."""
    zero, largest, one = (
        graph.add_constant(np.asarray(number, np.float32), hint)
        for number, hint in ((0.0, "zero"), (_LARGEST, "largest"), (1.0, "one"))
    )
    low, high = (
        graph.emit(node, bound, (graph.apply(node, f"Reduce{bound}", 13, node.inputs, (), {"keepdims": 0}), zero))
        for bound in ("Min", "Max")
    )
    span = graph.emit(node, "Sub", (high, low), hint="span")
    step = graph.emit(node, "Div", (span, largest), hint="step")
    none = graph.emit(node, "Equal", (span, zero), hint="none")
    scale = graph.emit(node, "Where", (none, one, step), node.outputs[1:2], hint="scale")
    steps = graph.emit(node, "Sub", (zero, graph.emit(node, "Div", (low, scale), hint="below")), hint="steps")
    inside = graph.emit(node, "Clip", (steps,), (), {"min": 0.0, "max": _LARGEST}, "inside")
    whole = graph.emit(node, "Round", (inside,), hint="whole")
    point = graph.emit(node, "Cast", (whole,), node.outputs[2:3], {"to": "u8"}, "zero_point")
    graph.emit(node, "QuantizeLinear", (node.inputs[0], scale, point), node.outputs[:1], {"to": "u8"})


IMPORTS = (Import(op_type="DynamicQuantizeLinear", since=11, attributes={}, convert=_dynamic_quantize),)
