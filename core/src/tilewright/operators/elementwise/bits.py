"""Knows BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot and BitShift of integers.
Does not know truth values (`logic`).

A shift by the type's width or more, which ONNX leaves open, moves every bit out; a negative one counts as such. To the
right a signed number keeps its sign, as a division that rounds down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.pairs import Expression, pair_kernel, pair_operator

Array = npt.NDArray[np.generic]

_BITWISE: Mapping[str, tuple[Callable[..., Array], str]] = MappingProxyType(
    {
        "BitwiseAnd": (np.bitwise_and, "&"),
        "BitwiseOr": (np.bitwise_or, "|"),
        "BitwiseXor": (np.bitwise_xor, "^"),
    }
)


def _bitwise_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    compute, _ = _BITWISE[site.node.op]
    return (np.asarray(compute(inputs[0], inputs[1])),)


def _match(site: Site) -> str | None:
    dtype = site.output.dtype
    return None if dtype.is_integer else f"elements are {dtype.value}, not integers"


def _bitwise_expression(site: Site) -> Expression:
    op, dtype = site.node.op, site.output.dtype
    return Expression(name=f"{op.lower()}_{dtype.value}", text=f"({dtype.c_type})(a {_BITWISE[op][1]} b)")


def _is_left(site: Site) -> bool:
    return site.node.attributes["direction"] == "LEFT"


def _shift_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = np.broadcast_arrays(np.asarray(inputs[0]), np.asarray(inputs[1]))
    width = 8 * a.dtype.itemsize
    outside = (b < 0) | (b >= width)
    count = np.where(outside, 0, b).astype(a.dtype)
    if _is_left(site):
        return (np.where(outside, 0, np.left_shift(a, count)).astype(a.dtype),)
    signs = np.zeros_like(a) - (a < 0).astype(a.dtype)
    return (np.where(outside, signs, np.right_shift(a, count)),)


def _shift_expression(site: Site) -> Expression:
    dtype = site.output.dtype
    width, signed, c_type = 8 * dtype.size_bytes, dtype.limits[0] < 0, dtype.c_type
    wide = "uint64_t" if width == 64 else "uint32_t"
    outside = f"(b < 0 || b >= {width})" if signed else f"b >= {width}"
    if _is_left(site):
        return Expression(name=f"shift_left_{dtype.value}", text=f"({c_type})({outside} ? 0 : ({wide})a << b)")
    if signed:  # ~a is not negative where a is: only such numbers are shifted, which C defines
        text = f"({c_type})({outside} ? (a < 0 ? -1 : 0) : (a < 0 ? ~(~a >> b) : a >> b))"
    else:
        text = f"({c_type})({outside} ? 0 : a >> b)"
    return Expression(name=f"shift_right_{dtype.value}", text=text)


# --- imports


def _need_integers(node: OnnxNode, graph: Conversion) -> DType:
    dtype = graph.tensor(node.inputs[0]).dtype
    if not dtype.is_integer:
        raise graph.refuse(node, f"its input is {dtype.value}, not an integer")
    return dtype


def _import_bitwise(op: str, node: OnnxNode, graph: Conversion) -> None:
    _need_integers(node, graph)
    graph.emit(node, op, node.inputs, node.outputs)


def _import_not(node: OnnxNode, graph: Conversion) -> None:
    """Xor with a number of ones only."""
    dtype = _need_integers(node, graph)
    ones = np.asarray(-1 if dtype.limits[0] < 0 else dtype.limits[1], dtype.numpy)
    graph.emit(node, "BitwiseXor", (*node.inputs, graph.add_constant(ones, "ones")), node.outputs)


def _import_shift(node: OnnxNode, graph: Conversion) -> None:
    _need_integers(node, graph)
    direction = node.text("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise graph.refuse(node, f"direction is {direction!r}, neither 'LEFT' nor 'RIGHT'")
    graph.emit(node, "BitShift", node.inputs, node.outputs, {"direction": direction})


def _imports(op: str) -> tuple[Import, ...]:
    convert = partial(_import_bitwise, op)
    two = Import(op_type=op, since=18, attributes={}, convert=convert, min_inputs=2, max_inputs=2)
    if op != "BitwiseXor":
        return (two,)
    return (two, Import(op_type="BitwiseNot", since=18, attributes={}, convert=_import_not))


BIT_SHIFT = pair_operator(
    "BitShift",
    "y = a shifted by b bits",
    _shift_reference,
    (
        Import(
            op_type="BitShift",
            since=11,
            attributes={"direction": "STRING"},
            convert=_import_shift,
            min_inputs=2,
            max_inputs=2,
        ),
    ),
)

OPERATORS = (
    *(
        pair_operator(op, f"y = a {symbol} b, bit by bit", _bitwise_reference, _imports(op))
        for op, (_, symbol) in _BITWISE.items()
    ),
    BIT_SHIFT,
)
KERNELS = (
    *(pair_kernel(op, _match, _bitwise_expression) for op in _BITWISE),
    pair_kernel("BitShift", _match, _shift_expression),
)
