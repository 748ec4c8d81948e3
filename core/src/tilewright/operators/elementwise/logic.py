"""Knows comparisons, And, Or, Xor and Not of truth values, Where, and the operators on the bits of integers.
Does not know floats of 64 bits.

A truth value is a byte, 0 or 1. NaN equals nothing and is in no order with anything. A shift by the type's width or
more, which ONNX leaves open, moves every bit out; a negative one counts as such. To the right a signed number keeps its
sign, as a division that rounds down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.elementwise import Expression, pair_kernel, pair_operator
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]

# Operator -> (numpy, C over a and b, operator sets with a signature of their own).
_COMPARE: Mapping[str, tuple[Callable[[Array, Array], Array], str, tuple[int, ...]]] = MappingProxyType(
    {
        "Equal": (np.equal, "a == b", (7, 11, 13, 19)),
        "Greater": (np.greater, "a > b", (7, 9, 13)),
        "Less": (np.less, "a < b", (7, 9, 13)),
        "GreaterOrEqual": (np.greater_equal, "a >= b", (12, 16)),
        "LessOrEqual": (np.less_equal, "a <= b", (12, 16)),
    }
)
_COMBINE: Mapping[str, tuple[Callable[[Array, Array], Array], str, tuple[int, ...]]] = MappingProxyType(
    {
        "And": (np.logical_and, "a & b", (7,)),
        "Or": (np.logical_or, "a | b", (7,)),
        "Xor": (np.logical_xor, "a ^ b", (7,)),
    }
)
_TWO = MappingProxyType({**_COMPARE, **_COMBINE})


def _shape(site: Site) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(tensor.shape for tensor in site.inputs if tensor is not None))
    except ValueError:
        raise shape_error(site, "the shapes of the inputs do not broadcast") from None


def _infer_two(site: Site) -> tuple[Tensor, ...]:
    if site.input(0).dtype is not site.input(1).dtype:
        raise shape_error(site, "A and B must have one type")
    if site.node.op in _COMBINE and site.input(0).dtype is not DType.BOOL:
        raise shape_error(site, "A and B must be bool")
    return (Tensor(name=site.node.outputs[0], dtype=DType.BOOL, shape=_shape(site)),)


def _infer_not(site: Site) -> tuple[Tensor, ...]:
    if site.input(0).dtype is not DType.BOOL:
        raise shape_error(site, "X must be bool")
    return (Tensor(name=site.node.outputs[0], dtype=DType.BOOL, shape=site.input(0).shape),)


def _infer_where(site: Site) -> tuple[Tensor, ...]:
    if site.input(0).dtype is not DType.BOOL or site.input(1).dtype is not site.input(2).dtype:
        raise shape_error(site, "C must be bool, A and B must have one type")
    return (Tensor(name=site.node.outputs[0], dtype=site.input(1).dtype, shape=_shape(site)),)


def _two_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (np.asarray(_TWO[site.node.op][0](*map(np.asarray, inputs))),)


def _not_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (np.logical_not(np.asarray(inputs[0])),)


def _where_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    condition, a, b = (np.asarray(array) for array in inputs)
    return (np.where(condition.astype(bool), a, b),)


def _access(names: Sequence[str], site: Site) -> Access:
    shapes = {name: site.input(index).shape for index, name in enumerate(names)}
    reads = " ".join(f"{name}[...]" for name in names)
    return parse_map(f": {reads} -> Y[...]").bind({**shapes, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    types = [tensor.dtype for tensor in site.inputs if tensor is not None]
    return "elements are f64, which no portable kernel computes in" if DType.F64 in types else None


def _in_place(names: Sequence[str], site: Site) -> tuple[tuple[str, str], ...]:
    """Any input that is as large as the output: elements are read before their place is written."""
    y = site.output
    operands = zip(names, site.inputs, strict=True)
    return tuple((name, "Y") for name, x in operands if x is not None and (x.dtype, x.shape) == (y.dtype, y.shape))


def _values(call: Call) -> Mapping[str, object]:
    op, dtype = call.site.node.op, call.site.input(-1 + len(call.site.inputs)).dtype
    c_type = call.operands["Y"].dtype.computed_in.c_type
    expressions = {"Not": "x == 0", "Where": "c != 0 ? a : b"}
    expression = expressions[op] if op in expressions else _TWO[op][1]
    return elementwise_values(call, f"{op.lower()}_{dtype.value}", f"({c_type})({expression})")


def _operator(
    op: str,
    names: tuple[str, ...],
    summary: str,
    infer: Callable[[Site], tuple[Tensor, ...]],
    reference: Callable[[Site, Sequence[Array | None]], tuple[Array, ...]],
    versions: Sequence[int],
) -> Operator:
    count = len(names)
    return Operator(
        name=op,
        inputs=names,
        outputs=("Y",),
        summary=summary,
        infer=infer,
        reference=reference,
        access=partial(_access, names),
        imports=tuple(
            Import(
                op_type=op,
                since=since,
                attributes={},
                convert=partial(lambda op, node, graph: graph.emit(node, op, node.inputs, node.outputs), op),
                min_inputs=count,
                max_inputs=count,
                halves=True,
            )
            for since in versions
        ),
    )


def _kernel(operator: Operator) -> Kernel:
    return Kernel(
        name=f"portable.{operator.name.lower()}",
        op=operator.name,
        parallel=("*",),
        match=_match,
        in_place=partial(_in_place, operator.inputs),
        values=_values,
        source=elementwise_source,
        call=ELEMENTWISE_CALL,
    )


# --- bits


_BITWISE: Mapping[str, tuple[Callable[..., Array], str]] = MappingProxyType(
    {
        "BitwiseAnd": (np.bitwise_and, "&"),
        "BitwiseOr": (np.bitwise_or, "|"),
        "BitwiseXor": (np.bitwise_xor, "^"),
    }
)


def _bitwise_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (np.asarray(_BITWISE[site.node.op][0](inputs[0], inputs[1])),)


def _bits_match(site: Site) -> str | None:
    dtype = site.output.dtype
    return None if dtype.is_integer else f"elements are {dtype.value}, not integers"


def _bitwise_expression(site: Site) -> Expression:
    op, dtype = site.node.op, site.output.dtype
    return Expression(name=f"{op.lower()}_{dtype.value}", text=f"({dtype.c_type})(a {_BITWISE[op][1]} b)")


def _shift_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = np.broadcast_arrays(np.asarray(inputs[0]), np.asarray(inputs[1]))
    width = 8 * a.dtype.itemsize
    outside = (b < 0) | (b >= width)
    count = np.where(outside, 0, b).astype(a.dtype)
    if site.node.attributes["direction"] == "LEFT":
        return (np.where(outside, 0, np.left_shift(a, count)).astype(a.dtype),)
    signs = np.zeros_like(a) - (a < 0).astype(a.dtype)
    return (np.where(outside, signs, np.right_shift(a, count)),)


def _shift_expression(site: Site) -> Expression:
    dtype = site.output.dtype
    width, signed, c_type = 8 * dtype.size_bytes, dtype.limits[0] < 0, dtype.c_type
    wide = "uint64_t" if width == 64 else "uint32_t"
    outside = f"(b < 0 || b >= {width})" if signed else f"b >= {width}"
    if site.node.attributes["direction"] == "LEFT":
        return Expression(name=f"shift_left_{dtype.value}", text=f"({c_type})({outside} ? 0 : ({wide})a << b)")
    if signed:  # ~a is not negative where a is: only such numbers are shifted, which C defines
        text = f"({c_type})({outside} ? (a < 0 ? -1 : 0) : (a < 0 ? ~(~a >> b) : a >> b))"
    else:
        text = f"({c_type})({outside} ? 0 : a >> b)"
    return Expression(name=f"shift_right_{dtype.value}", text=text)


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

_TRUTH = (
    *(
        _operator(op, ("A", "B"), f"y = {text}, broadcast", _infer_two, _two_reference, versions)
        for op, (_, text, versions) in _TWO.items()
    ),
    _operator("Not", ("X",), "y = not x", _infer_not, _not_reference, (1,)),
    _operator("Where", ("C", "A", "B"), "y = a where c, else b, broadcast", _infer_where, _where_reference, (9, 16)),
)

OPERATORS = (
    *_TRUTH,
    *(
        pair_operator(op, f"y = a {symbol} b, bit by bit", _bitwise_reference, _imports(op))
        for op, (_, symbol) in _BITWISE.items()
    ),
    BIT_SHIFT,
)
KERNELS = (
    *(_kernel(operator) for operator in _TRUTH),
    *(pair_kernel(op, _bits_match, _bitwise_expression) for op in _BITWISE),
    pair_kernel("BitShift", _bits_match, _shift_expression),
)
