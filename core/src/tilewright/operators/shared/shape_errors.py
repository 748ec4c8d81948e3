"""Knows how an operator says that the shapes or types of its operands do not fit together.
Does not know any operator's rule."""

from __future__ import annotations

from tilewright.errors import TilewrightError, model_error
from tilewright.ir.graphs.graph import Site


def shape_error(site: Site, reason: str) -> TilewrightError:
    """The error to raise from a shape rule: which node, which operands, and `reason`."""
    found = ", ".join(
        f"{tensor.name}: {tensor.dtype.value}{list(tensor.shape)}" for tensor in site.inputs if tensor is not None
    )
    return model_error(
        "TW1310",
        f"{site.node.op}: {reason}",
        where=site.node.name,
        details=(f"inputs: {found}",),
        fix=("check the model with onnx.checker.check_model(model, full_check=True)",),
    )
