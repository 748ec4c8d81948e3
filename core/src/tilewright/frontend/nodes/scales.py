"""Knows what the scales and zero points of quantised operators may be, and refuses the rest (exit code 3).
Does not know the operators' arithmetic.

A scale is a positive, normal float32: zero, negative, NaN, infinite and denormal ones make results that depend
on the machine. A zero point has the type of the tensor it belongs to. Source: ONNX QuantizeLinear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.errors import TilewrightError, model_error
from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.refusals import RefusedNode
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.graphs.importing import OnnxNode
from tilewright.ir.tensors.dtypes import DType

Array = npt.NDArray[np.generic]

_SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """Which inputs of a node are a scale, its zero point, and the tensor they describe (-1: an output)."""

    scale: int
    zero_point: int
    tensor: int


def _triples(*places: tuple[int, int, int]) -> tuple[Triple, ...]:
    return tuple(Triple(scale=scale, zero_point=zero, tensor=tensor) for scale, zero, tensor in places)


_UNARY = _triples((1, 2, 0), (3, 4, -1))
_BINARY = _triples((1, 2, 0), (4, 5, 3), (6, 7, -1))
_PLACES = MappingProxyType(
    {
        "QuantizeLinear": _triples((1, 2, -1)),
        "DequantizeLinear": _triples((1, 2, 0)),
        "QLinearConv": _BINARY,
        "QLinearMatMul": _BINARY,
        "QLinearAdd": _BINARY,
        "QLinearMul": _BINARY,
        "QGemm": _triples((1, 2, 0), (4, 5, 3), (7, 8, -1)),
        "QLinearSigmoid": _UNARY,
        "QLinearLeakyRelu": _UNARY,
        "QLinearSoftmax": _UNARY,
        "QLinearGlobalAveragePool": _UNARY,
        "QLinearAveragePool": _UNARY,
    }
)


def _places(node: OnnxNode) -> tuple[Triple, ...]:
    if node.op_type == "QLinearConcat":
        parts = range(2, len(node.inputs) - 2, 3)
        return _triples((0, 1, -1), *((first + 1, first + 2, first) for first in parts))
    return _PLACES.get(node.op_type, ())


def check_scales(
    node: OnnxNode, constant: Callable[[str], Array | None], tensor: Callable[[str], Tensor], where: str
) -> None:
    """Raise TW3051 or TW3052 for the first bad scale or zero point of a quantised node; others pass."""
    for place in _places(node):
        scale_name = _at(node, place.scale)
        if scale_name:
            tensor(scale_name)  # refuses a type that is not taken
        scale = constant(scale_name) if scale_name else None
        if scale is not None:
            _check_scale(scale, scale_name, where)
        zero_name = _at(node, place.zero_point)
        if not zero_name:
            continue
        zero = tensor(zero_name)
        if place.tensor >= 0 and _at(node, place.tensor):
            described = tensor(node.inputs[place.tensor])
            if zero.dtype is not described.dtype:
                types = f"is {zero.dtype.value}, but its tensor {show(described.name)} is {described.dtype.value}"
                raise _bad_zero_point(f"zero point {show(zero.name)} {types}", where)
        if scale is not None and scale.size != zero.elements:
            counts = f"has {zero.elements} element(s), its scale {scale.size}"
            raise _bad_zero_point(f"zero point {show(zero.name)} {counts}", where)
        _check_zero_values(zero, constant(zero_name), where)


def _at(node: OnnxNode, index: int) -> str:
    return node.inputs[index] if index < len(node.inputs) else ""


def _check_scale(scale: Array, name: str, where: str) -> None:
    if DType.from_numpy(scale.dtype).is_half:
        raise RefusedNode(f"scale {show(name)} is {scale.dtype}; scales are taken as float32")
    if scale.dtype != np.float32:
        raise _bad_scale(f"scale {show(name)} is {scale.dtype}, not float32", where)
    values = np.asarray(scale, np.float32).reshape(-1)
    good = np.isfinite(values) & (values >= _SMALLEST_NORMAL)
    if not values.size or not good.all():
        index = int(np.argmin(good)) if values.size else 0
        value = f"{values[index]!s} at index {index}" if values.size else "without elements"
        infinite = bool(values.size) and bool(np.isinf(values[index]))
        raise _bad_scale(f"scale {show(name)} is {value}; it must be a positive, normal number", where, infinite)


def _bad_scale(reason: str, where: str, infinite: bool = False) -> TilewrightError:
    reached = "quantise again with calibration data that reaches this tensor; a dead channel gives scale 0"
    mask = "mask with a finite number, such as -1e4, where the float network has -inf, and quantise again"
    return model_error("TW3051", reason, where=where, fix=(mask if infinite else reached,))


def _bad_zero_point(reason: str, where: str) -> TilewrightError:
    return model_error(
        "TW3052", reason, where=where, fix=("quantise again: zero point and tensor must have one type and range",)
    )


def _check_zero_values(zero: Tensor, values: Array | None, where: str) -> None:
    if not zero.dtype.is_integer:
        raise _bad_zero_point(f"zero point {show(zero.name)} is {zero.dtype.value}, not an integer type", where)
    if zero.dtype.size_bytes > 2 and values is not None and np.any(values):
        raise _bad_zero_point(f"zero point {show(zero.name)} of a {zero.dtype.value} tensor must be 0", where)
