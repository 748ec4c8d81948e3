"""Knows the float functions of one input, element by element: in float64, as C without libm, and their error.
Does not know lookup tables, which `UNARY` fills at compile time (`QLookup`).

`FUNCTIONS` says what each of them computes; operators and kernels follow from it. Abs, Neg and Sign also take integers;
the first two wrap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.ir.graphs.graph import Attribute, Node, Site
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.elementwise import same_as_x, unary_access
from tilewright.operators.shared.float_results import TINY, UNIT, ulp_tolerance

Doubles = npt.NDArray[np.float64]
Numbers = Mapping[str, float]


def _no_slack(x: Doubles, numbers: Numbers) -> Doubles:
    return np.zeros_like(x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One function of the table. `exact` and `slack` get float64 and the attributes' float32 values."""

    exact: Callable[[Doubles, Numbers], Doubles]
    c: str  # expression over x and the attributes' names
    summary: str
    attributes: Mapping[str, float] = field(default_factory=dict)  # with ONNX's defaults
    since: tuple[int, ...] = ()  # opsets with a signature of their own
    slack: Callable[[Doubles, Numbers], Doubles] = _no_slack  # beyond 4 ULP, where the formula itself cancels


_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])
_GELU = (math.sqrt(8 / math.pi), math.sqrt(8 / math.pi) * 0.044715)


def sigmoid(x: Doubles) -> Doubles:
    """1 / (1 + exp(-x)), without an exponential that is too large."""
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, e, 1.0) / (1 + e))


def _times(x: Doubles, share: Doubles) -> Doubles:
    """x * share, where a share of 0 beats an infinite x."""
    return np.asarray(np.where(share == 0, np.copysign(0.0, x), x * share))


def _softplus(x: Doubles) -> Doubles:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _gelu(x: Doubles) -> Doubles:
    return _times(x, _erfc(-x / math.sqrt(2)) / 2)


def _gelu_argument(x: Doubles) -> Doubles:
    return x * (_GELU[0] + _GELU[1] * x * x)


def _steep(x: Doubles, y: Doubles, argument: Doubles) -> Doubles:
    """What a rounded argument of an exponential does to a product with it; below 2^-126 steps are absolute."""
    error: Doubles = np.abs(y) * np.minimum(np.abs(argument), 200) * 4 * UNIT + np.minimum(np.abs(x), 200) * TINY
    return error


def _hard_sigmoid(x: Doubles, n: Numbers) -> Doubles:
    return np.minimum(np.maximum(n["alpha"] * x + n["beta"], 0), 1)


def _hard_sigmoid_slack(x: Doubles, n: Numbers) -> Doubles:
    return 2 * UNIT * (np.abs(n["alpha"] * x) + abs(n["beta"]))


_SIXTH = {"alpha": float(np.float32(1 / 6)), "beta": 0.5}
_SELU = {"alpha": 1.6732632423543772, "gamma": 1.0507009873554805}

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "Abs": Function(exact=lambda x, n: np.abs(x), c="x < 0.0f ? -x : x + 0.0f", summary="|x|", since=(6,)),
        "Acos": Function(
            exact=lambda x, n: np.arccos(x), c="tw_acosf(x)", summary="inverse cosine, 0 to pi", since=(7,)
        ),
        "Acosh": Function(
            exact=lambda x, n: np.arccosh(x), c="tw_acoshf(x)", summary="inverse hyperbolic cosine", since=(9,)
        ),
        "Asin": Function(exact=lambda x, n: np.arcsin(x), c="tw_asinf(x)", summary="inverse sine", since=(7,)),
        "Asinh": Function(
            exact=lambda x, n: np.arcsinh(x), c="tw_asinhf(x)", summary="inverse hyperbolic sine", since=(9,)
        ),
        "Atan": Function(exact=lambda x, n: np.arctan(x), c="tw_atanf(x)", summary="inverse tangent", since=(7,)),
        "Atanh": Function(
            exact=lambda x, n: np.arctanh(x), c="tw_atanhf(x)", summary="inverse hyperbolic tangent", since=(9,)
        ),
        "Ceil": Function(exact=lambda x, n: np.ceil(x), c="tw_ceilf(x)", summary="x rounded up", since=(6,)),
        "Cos": Function(
            exact=lambda x, n: np.cos(x), c="tw_cosf(x)", summary="cosine of an angle in radians", since=(7,)
        ),
        "Cosh": Function(exact=lambda x, n: np.cosh(x), c="tw_coshf(x)", summary="hyperbolic cosine", since=(9,)),
        "Elu": Function(
            exact=lambda x, n: np.where(x < 0, n["alpha"] * np.expm1(np.minimum(x, 0)), x),
            c="x < 0.0f ? alpha * tw_expm1f(x) : x",
            summary="x, or alpha (exp(x) - 1) below 0",
            attributes={"alpha": 1.0},
            since=(6,),
        ),
        "Erf": Function(exact=lambda x, n: _erf(x), c="tw_erff(x)", summary="the error function", since=(9,)),
        "Exp": Function(exact=lambda x, n: np.exp(x), c="tw_expf(x)", summary="e to the x", since=(6,)),
        "Floor": Function(exact=lambda x, n: np.floor(x), c="tw_floorf(x)", summary="x rounded down", since=(6,)),
        "Gelu": Function(
            exact=lambda x, n: _gelu(x), c="tw_geluf(x)", summary="x times the normal distribution up to x"
        ),
        "GeluTanh": Function(
            exact=lambda x, n: _times(x, sigmoid(_gelu_argument(x))),
            c="tw_gelu_tanhf(x)",
            summary="Gelu by a tanh",
            slack=lambda x, n: _steep(x, _times(x, sigmoid(_gelu_argument(x))), _gelu_argument(x)),
        ),
        "HardSigmoid": Function(
            exact=_hard_sigmoid,
            c="tw_clip(alpha * x + beta, 0.0f, 1.0f)",
            summary="alpha x + beta between 0 and 1",
            attributes={"alpha": 0.2, "beta": 0.5},
            since=(6,),
            slack=_hard_sigmoid_slack,
        ),
        "HardSwish": Function(
            exact=lambda x, n: x * _hard_sigmoid(x, _SIXTH),
            c=f"x * tw_clip({c_float(_SIXTH['alpha'])} * x + 0.5f, 0.0f, 1.0f)",
            summary="x times (x / 6 + 0.5 between 0 and 1)",
            since=(14,),
            slack=lambda x, n: np.where(np.abs(x) < 4, np.abs(x) * _hard_sigmoid_slack(x, _SIXTH), 0),
        ),
        "LeakyRelu": Function(
            exact=lambda x, n: np.where(x < 0, n["alpha"] * x, x),
            c="x < 0.0f ? alpha * x : x",
            summary="x, or alpha x below 0",
            attributes={"alpha": 0.01},
            since=(6,),
        ),
        "Log": Function(exact=lambda x, n: np.log(x), c="tw_logf(x)", summary="natural logarithm", since=(6,)),
        "Mish": Function(
            exact=lambda x, n: _times(x, np.tanh(_softplus(x))),
            c="tw_mishf(x)",
            summary="x tanh(log(1 + exp(x)))",
            since=(18,),
            slack=lambda x, n: 4 * TINY * np.minimum(np.abs(x), 200),
        ),
        "Neg": Function(exact=lambda x, n: -x, c="-x", summary="-x", since=(6,)),
        "Reciprocal": Function(exact=lambda x, n: 1 / x, c="1.0f / x", summary="1 / x", since=(6,)),
        "Round": Function(
            exact=lambda x, n: np.rint(x), c="tw_roundf(x)", summary="nearest integer, halves to even", since=(11,)
        ),
        "Selu": Function(
            exact=lambda x, n: n["gamma"] * np.where(x < 0, n["alpha"] * np.expm1(np.minimum(x, 0)), x),
            c="gamma * (x < 0.0f ? alpha * tw_expm1f(x) : x)",
            summary="Elu, scaled",
            attributes=_SELU,
            since=(6,),
        ),
        "Sigmoid": Function(exact=lambda x, n: sigmoid(x), c="tw_sigmoidf(x)", summary="1 / (1 + exp(-x))", since=(6,)),
        "Sign": Function(
            exact=lambda x, n: np.sign(x),
            c="x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x + 0.0f)",  # 0 of -0
            summary="-1, 0 or 1",
            since=(9,),
        ),
        "Sin": Function(
            exact=lambda x, n: np.sin(x), c="tw_sinf(x)", summary="sine of an angle in radians", since=(7,)
        ),
        "Sinh": Function(exact=lambda x, n: np.sinh(x), c="tw_sinhf(x)", summary="hyperbolic sine", since=(9,)),
        "Softplus": Function(
            exact=lambda x, n: _softplus(x), c="tw_softplusf(x)", summary="log(1 + exp(x))", since=(1,)
        ),
        "Softsign": Function(
            exact=lambda x, n: x / (1 + np.abs(x)),
            c="x / (1.0f + (x < 0.0f ? -x : x))",
            summary="x / (1 + |x|)",
            since=(1,),
        ),
        "Sqrt": Function(exact=lambda x, n: np.sqrt(x), c="tw_sqrtf(x)", summary="square root", since=(6,)),
        "Swish": Function(
            exact=lambda x, n: _times(x, sigmoid(n["alpha"] * x)),
            c="tw_swishf(x, alpha)",
            summary="x sigmoid(alpha x)",
            attributes={"alpha": 1.0},
            since=(24,),
            slack=lambda x, n: _steep(x, _times(x, sigmoid(n["alpha"] * x)), n["alpha"] * x),
        ),
        "Tan": Function(
            exact=lambda x, n: np.tan(x), c="tw_tanf(x)", summary="tangent of an angle in radians", since=(7,)
        ),
        "Tanh": Function(exact=lambda x, n: np.tanh(x), c="tw_tanhf(x)", summary="hyperbolic tangent", since=(6,)),
    }
)


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
        infer=same_as_x,
        reference=_reference,
        access=unary_access,
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
