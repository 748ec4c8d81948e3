"""Knows the float functions of one input, element by element, as operators and kernels.
Does not know what they compute (`unary_functions`), nor lookup tables, which `UNARY` fills at compile time (`QLookup`).

Abs, Neg and Sign also take integers; the first two wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Node, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_functions import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.elementwise.unary_functions import FUNCTIONS, Doubles, Function, Numbers
from tilewright.operators.shared.float_error import ulp_tolerance

Array = npt.NDArray[np.generic]
_OF_INTEGERS: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {"Abs": np.abs, "Neg": np.negative, "Sign": np.sign}
)


def _numbers(node: Node) -> Numbers:
    defaults = FUNCTIONS[node.op].attributes
    return {name: float(np.float32(node.number(name, default))) for name, default in defaults.items()}


def _evaluate(node: Node, x: Doubles) -> Doubles:
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[node.op].exact(np.asarray(x, np.float64), _numbers(node)), np.float64)


def evaluate(op: str, attributes: Mapping[str, Attribute], x: Doubles) -> Doubles:
    """The function `op` of float64 values, in float64. KeyError when it is none of `FUNCTIONS`."""
    return _evaluate(Node(name=op, op=op, inputs=("x",), outputs=("y",), attributes=attributes), x)


# The same by operator, for a node: what lookup tables are made of.
UNARY: Mapping[str, Callable[[Node, Doubles], Doubles]] = MappingProxyType(dict.fromkeys(FUNCTIONS, _evaluate))


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x = np.asarray(inputs[0])
    if not np.issubdtype(x.dtype, np.floating):
        return (np.asarray(_OF_INTEGERS[site.node.op](x)),)
    with np.errstate(all="ignore"):
        return (_evaluate(site.node, x.astype(np.float64)).astype(x.dtype),)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    x = np.asarray(inputs[0])
    if x.dtype != np.float32:
        return (None,)
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64)
        slack = FUNCTIONS[site.node.op].slack(exact, _numbers(site.node))
        return (ulp_tolerance(4, _evaluate(site.node, exact)) + np.where(np.isfinite(slack), slack, 0),)


def _access(site: Site) -> Access:
    return parse_map(": X[...] -> Y[...]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    dtype = site.input(0).dtype
    if dtype.computed_in is DType.F32 or (site.node.op in _OF_INTEGERS and dtype.is_integer):
        return None
    return f"X is {dtype.value}; the portable kernel computes in float32"


def _integer_expression(op: str, dtype: DType) -> str:
    if op == "Sign":
        return f"({dtype.c_type})(x > 0)" if dtype.limits[0] == 0 else f"({dtype.c_type})((x > 0) - (x < 0))"
    wide = "64" if dtype.size_bytes == 8 else "32"
    negated = f"({dtype.c_type})(0 - (uint{wide}_t)x)"
    return negated if op == "Neg" else f"({dtype.c_type})(x < 0 ? {negated} : x)"


def _values(call: Call) -> Mapping[str, object]:
    op, dtype = call.site.node.op, call.operands["X"].dtype
    if dtype.computed_in is not DType.F32:
        expression = "x" if op == "Abs" and dtype.limits[0] == 0 else _integer_expression(op, dtype)
        return elementwise_values(call, f"{op.lower()}_{dtype.value}", expression)
    function = FUNCTIONS[op]
    scalars = {name: ("float", c_float(value)) for name, value in _numbers(call.site.node).items()}
    return elementwise_values(call, f"{op.lower()}_{dtype.value}", function.c, scalars=scalars)


def _import(op: str, node: OnnxNode, graph: Conversion) -> None:
    attributes = {name: node.number(name, default) for name, default in FUNCTIONS[op].attributes.items()}
    graph.emit(node, op, node.inputs, node.outputs, attributes)


def _import_gelu(node: OnnxNode, graph: Conversion) -> None:
    form = node.text("approximate", "none")
    if form not in ("none", "tanh"):
        raise graph.refuse(node, f"approximate {form!r} is neither 'none' nor 'tanh'")
    graph.emit(node, "GeluTanh" if form == "tanh" else "Gelu", node.inputs, node.outputs)


def _imports(op: str, function: Function) -> tuple[Import, ...]:
    if op == "Gelu":
        gelu = Import(op_type="Gelu", since=20, attributes={"approximate": "STRING"}, convert=_import_gelu)
        return with_halves(gelu)
    known = dict.fromkeys(function.attributes, "FLOAT")
    versions = (
        Import(op_type=op, since=since, attributes=known, convert=partial(_import, op)) for since in function.since
    )
    return with_halves(*versions)


def _operator(op: str, function: Function) -> Operator:
    return Operator(
        name=op,
        inputs=("X",),
        outputs=("Y",),
        summary=f"y = {function.summary}",
        infer=_infer,
        reference=_reference,
        access=_access,
        tolerance=_tolerance,
        imports=_imports(op, function),
    )


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"portable.{op.lower()}",
        op=op,
        parallel=("*",),
        match=_match,
        in_place=lambda site: (("X", "Y"),),
        values=_values,
        source=elementwise_source,
        call=ELEMENTWISE_CALL,
        includes=("<stdint.h>", "<math.h>"),  # INFINITY and NAN; no function of it is called
    )


OPERATORS = tuple(_operator(op, function) for op, function in FUNCTIONS.items())
KERNELS = tuple(_kernel(op) for op in FUNCTIONS)
