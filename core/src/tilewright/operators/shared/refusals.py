"""Knows how operators, kernels and importers refuse operands: shapes that do not fit, other types, axes out of range.
Does not know any operator's rule."""

from __future__ import annotations

from tilewright.errors import TilewrightError, model_error
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.importing import Conversion, OnnxNode
from tilewright.ir.tensors.dtypes import DType


def shape_error(site: Site, reason: str) -> TilewrightError:
    """The error to raise from a shape rule: which node, which operands, and `reason`."""
    inputs = ", ".join(
        f"{tensor.name}: {tensor.dtype.value}{list(tensor.shape)}" for tensor in site.inputs if tensor is not None
    )
    return model_error(
        "TW1310",
        f"{site.node.op}: {reason}",
        where=site.node.name,
        details=(f"inputs: {inputs}",),
        fix=("check the model with onnx.checker.check_model(model, full_check=True)",),
    )


def not_float32(site: Site) -> str | None:
    """Why X is refused by a kernel for float32, or None."""
    return None if site.input(0).dtype is DType.F32 else f"X must be f32, found {site.input(0).dtype.value}"


def not_all_float32(site: Site) -> str | None:
    """Why the inputs are refused by a kernel for float32, or None."""
    types = {tensor.dtype for tensor in site.inputs if tensor is not None}
    return None if types == {DType.F32} else "all inputs must be f32"


def not_float32_or_bytes(site: Site) -> str | None:
    """Why X is refused by a kernel for float32 and 8-bit integers, or None."""
    dtype = site.input(0).dtype
    return None if dtype in (DType.F32, DType.I8, DType.U8) else f"X must be f32, i8 or u8, found {dtype.value}"


def not_float32_or_values(site: Site) -> str | None:
    """Why X is refused by a kernel for float32 and integers of 8 and 16 bits, or None."""
    dtype = site.input(0).dtype
    taken = dtype is DType.F32 or (dtype.is_integer and dtype.size_bytes <= 2)
    return None if taken else f"X must be f32 or an integer of 8 or 16 bits, found {dtype.value}"


def not_ordered(site: Site) -> str | None:
    """Why X is refused by a kernel for float32 and integers, or None."""
    dtype = site.input(0).dtype
    return None if dtype is DType.F32 or dtype.is_integer else f"X must be f32 or an integer, found {dtype.value}"


def need_types(node: OnnxNode, graph: Conversion, *allowed: DType, first: int | None = None) -> None:
    """Refuse a node with an input of another element type; `first` says how many inputs are looked at."""
    for name in node.inputs[:first]:
        if name and graph.tensor(name).dtype not in allowed:
            names = ", ".join(dtype.value for dtype in allowed)
            raise graph.refuse(node, f"{name} is {graph.tensor(name).dtype.value}; supported here: {names}")


def need_axis(node: OnnxNode, graph: Conversion, axis: int, rank: int) -> int:
    """`axis` counted from the front; refuses one that the tensor does not have."""
    if not -rank <= axis < rank:
        raise graph.refuse(node, f"axis {axis} is outside a tensor of {rank} axes")
    return axis % rank
