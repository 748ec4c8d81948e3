"""Small models, written down in one line each, for tests of what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Ends = Mapping[str, Sequence[int | str | None]]


def model(
    *nodes: NodeProto,
    inputs: Ends | None = None,
    outputs: Sequence[str] = ("y",),
    constants: Mapping[str, Any] | None = None,
    element: int = TensorProto.FLOAT,
    opset: int = 17,
    domains: Sequence[str] = (),
    **graph: Any,
) -> ModelProto:
    """Nodes between inputs (one, `x` of 1x4, unless said otherwise) and outputs without a declared shape."""
    ends = {"x": (1, 4)} if inputs is None else inputs
    return helper.make_model(
        helper.make_graph(
            list(nodes),
            "net",
            [helper.make_tensor_value_info(name, element, shape) for name, shape in ends.items()],
            [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs],
            [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()],
            **graph,
        ),
        opset_imports=[helper.make_opsetid(domain, opset if not domain else 1) for domain in ("", *domains)],
    )


def one(
    op: str,
    *more: str,
    constants: Mapping[str, Any] | None = None,
    shape: Sequence[int] = (1, 4),
    element: int = TensorProto.FLOAT,
    opset: int = 17,
    **attributes: Any,
) -> ModelProto:
    """One node that reads `x` and constants."""
    names = [*(constants or {}), *more]
    made = helper.make_node(op, ["x", *names], ["y"], name="n", **attributes)
    return model(made, inputs={"x": shape}, constants=constants, element=element, opset=opset)
