"""Knows whether a model is written in the dialect: by operators that nobody else has, by a chain that ends in Floor and
Clip, or because somebody asks for integers at the border of a network that has whole numbers only.
Does not know what these operators mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.api.graph import DType

OWN = frozenset(
    (
        "ITAMax", "ITAPartialMax", "IntegerDiv", "IntegerMean", "RQIntegerDiv", "RequantShift", "RequantizedAdd",
        "RequantizedConv", "RequantizedGemm", "RequantizediGELU", "RequantizediHardswish", "TrueIntegerDiv", "iGELU",
        "iHardswish", "iLayerNorm", "iNoNorm", "iRMSNorm", "iSoftmax",
    )
)  # fmt: skip
SHARED = frozenset(
    (
        "Add",
        "Cast",
        "Clip",
        "Concat",
        "Constant",
        "Conv",
        "Flatten",
        "Gather",
        "Gemm",
        "Identity",
        "MatMul",
        "MaxPool",
        "Mul",
        "Neg",
        "Pad",
        "ReduceMean",
        "ReduceSum",
        "Relu",
        "Reshape",
        "Slice",
        "Squeeze",
        "Sub",
        "Transpose",
        "Unsqueeze",
    )
)  # fmt: skip  ONNX's operators that have a meaning on whole numbers


def speaks(model: Any, types: Mapping[str, DType]) -> bool:
    """Whether the dialect has to say what the model means."""
    nodes = model.graph.node
    return any(node.op_type in OWN for node in nodes) or _floored_chain(nodes) or _asked_for(model, types)


def _floored_chain(nodes: Any) -> bool:
    """Div, Floor, Clip, one behind the other: how NEMO and quantlib write a requantisation in ONNX's own operators."""
    if not any(node.op_type == "Floor" for node in nodes):
        return False
    writers = {name: node for node in nodes for name in node.output}
    for clip in nodes:
        floor = writers.get(clip.input[0]) if clip.op_type == "Clip" and clip.input else None
        division = writers.get(floor.input[0]) if floor is not None and floor.op_type == "Floor" else None
        if division is not None and division.op_type == "Div":
            return True
    return False


def _asked_for(model: Any, types: Mapping[str, DType]) -> bool:
    """Inputs are wider than what is asked for, and nothing computes anything but whole numbers."""
    from onnx import TensorProto

    kinds = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    wide = {name for name, kind in kinds.items() if kind in (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64)}
    if not wide.intersection(types):
        return False
    return all(node.op_type in SHARED for node in model.graph.node) and _whole(model.graph.initializer)


def _whole(initializers: Any) -> bool:
    import numpy as np
    from onnx import TensorProto, numpy_helper

    for tensor in initializers:
        if tensor.data_location == TensorProto.EXTERNAL:
            return False
        if tensor.data_type == TensorProto.FLOAT:
            array = numpy_helper.to_array(tensor)
            if not np.array_equal(array, np.rint(array)):
                return False
    return True
