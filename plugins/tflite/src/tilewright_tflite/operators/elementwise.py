"""Knows operators of one element at a time: fused activations, functions of one tensor, arithmetic of two, comparisons.
Does not know how numbers are stored: `Network.real` and `put` do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright_tflite.conversion import Conversion, Convert, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator
from tilewright_tflite.network import Network
from tilewright_tflite.onnx_types import ONNX_TYPES

_FUSED_TANH = 4
_FAMILY = {"RELU": (0.0, np.inf), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0), "RELU_0_TO_1": (0.0, 1.0)}
_FUSED = {1: "RELU", 2: "RELU_N1_TO_1", 3: "RELU6"}


def activated(net: Network, value: str, code: int) -> str:
    """The value behind a fused activation, by its number."""
    if code == 0:
        return value
    if code == _FUSED_TANH:
        return net.node("Tanh", (value,))
    if code not in _FUSED:
        raise RefusedError(f"activation {code} is not known")
    return _clipped(net, value, _FUSED[code])


def _clipped(net: Network, value: str, family: str) -> str:
    low, high = _FAMILY[family]
    if np.isinf(high):
        return net.node("Relu", (value,))
    ends = (net.constant(np.array(each, np.float32), name) for each, name in ((low, "low"), (high, "high")))
    return net.node("Clip", (value, *ends))


def scalar(net: Network, number: float, hint: str) -> str:
    """A float constant."""
    return net.constant(np.array(number, np.float32), hint)


def _relu(op: Operator, net: Network) -> None:
    net.put(net.output(op), _clipped(net, net.real(net.input(op, 0)), op.code))


def _unary(name: str) -> Convert:
    def convert(op: Operator, net: Network) -> None:
        net.put(net.output(op), net.node(name, (net.real(net.input(op, 0)),)))

    return convert


def _hard_swish(op: Operator, net: Network) -> None:
    net.put(net.output(op), net.node("HardSwish", (net.real(net.input(op, 0)),)))


def _leaky_relu(op: Operator, net: Network) -> None:
    x = net.real(net.input(op, 0))
    net.put(net.output(op), net.node("LeakyRelu", (x,), alpha=op.options.real(0)))


def _elu(op: Operator, net: Network) -> None:
    net.put(net.output(op), net.node("Elu", (net.real(net.input(op, 0)),), alpha=1.0))


def _gelu(op: Operator, net: Network) -> None:
    approximate = "tanh" if op.options.flag(0) else "none"
    net.put(net.output(op), net.node("Gelu", (net.real(net.input(op, 0)),), approximate=approximate))


def _prelu(op: Operator, net: Network) -> None:
    net.put(net.output(op), net.node("PRelu", (net.real(net.input(op, 0)), net.real(net.input(op, 1)))))


def _rsqrt(op: Operator, net: Network) -> None:
    root = net.node("Sqrt", (net.real(net.input(op, 0)),))
    net.put(net.output(op), net.node("Div", (scalar(net, 1.0, "one"), root)))


def _square(op: Operator, net: Network) -> None:
    x = net.real(net.input(op, 0))
    net.put(net.output(op), net.node("Mul", (x, x)))


def _squared_difference(op: Operator, net: Network) -> None:
    difference = net.node("Sub", (net.real(net.input(op, 0)), net.real(net.input(op, 1))))
    net.put(net.output(op), net.node("Mul", (difference, difference)))


def _arithmetic(name: str) -> Convert:
    """Of two tensors, with a fused activation."""

    def convert(op: Operator, net: Network) -> None:
        value = net.node(name, (net.real(net.input(op, 0)), net.real(net.input(op, 1))))
        net.put(net.output(op), activated(net, value, op.options.byte(0)))

    return convert


def _binary(name: str) -> Convert:
    def convert(op: Operator, net: Network) -> None:
        net.put(net.output(op), net.node(name, (net.real(net.input(op, 0)), net.real(net.input(op, 1)))))

    return convert


def _extreme(name: str) -> Convert:
    """Of two tensors; the integers themselves are compared where all have one scale."""

    def convert(op: Operator, net: Network) -> None:
        a, b, output = net.input(op, 0), net.input(op, 1), net.output(op)
        if a.same_scale(output) and b.same_scale(output) and output.type in ("int8", "uint8"):
            net.put_stored(output, net.node(name, (net.stored(a), net.stored(b))))
        else:
            net.put(output, net.node(name, (net.real(a), net.real(b))))

    return convert


def _compared(name: str, *, negated: bool = False) -> Convert:
    def convert(op: Operator, net: Network) -> None:
        value = net.node(name, (net.real(net.input(op, 0)), net.real(net.input(op, 1))))
        net.put(net.output(op), net.node("Not", (value,)) if negated else value)

    return convert


def _add_n(op: Operator, net: Network) -> None:
    values: Sequence[str] = [net.real(net.input(op, index)) for index in range(len(op.inputs))]
    net.put(net.output(op), net.node("Sum", values))


def _select(op: Operator, net: Network) -> None:
    condition, a, b, output = (*(net.input(op, index) for index in range(3)), net.output(op))
    if len(condition.shape) < len(a.shape) and op.code == "SELECT":
        raise RefusedError("its condition chooses whole rows")
    if a.same_scale(output) and b.same_scale(output):
        net.put_stored(output, net.node("Where", (net.stored(condition), net.stored(a), net.stored(b))))
    else:
        net.put(output, net.node("Where", (net.stored(condition), net.real(a), net.real(b))))


def _floor_mod(op: Operator, net: Network) -> None:
    """With the sign of what it is divided by."""
    a, b = net.real(net.input(op, 0)), net.real(net.input(op, 1))
    if not net.input(op, 0).type.startswith("float"):
        net.put(net.output(op), net.node("Mod", (a, b)))
        return
    left, zero = net.node("Mod", (a, b), fmod=1), scalar(net, 0.0, "zero")
    apart = net.node("Xor", (net.node("Less", (left, zero)), net.node("Less", (b, zero))))
    moved = net.node("And", (apart, net.node("Not", (net.node("Equal", (left, zero)),))))
    net.put(net.output(op), net.node("Where", (moved, net.node("Add", (left, b)), left)))


def _floor_div(op: Operator, net: Network) -> None:
    """Integers are divided towards 0, and are one less where what is left has another sign than the divisor."""
    a, b, output = net.real(net.input(op, 0)), net.real(net.input(op, 1)), net.output(op)
    whole = net.node("Div", (a, b))
    if output.type.startswith("float") or output.quantised:
        net.put(output, net.node("Floor", (whole,)))
        return
    left = net.node("Sub", (a, net.node("Mul", (whole, b))))
    same = net.node("Equal", (left, net.node("Mod", (a, b))))
    less = net.node("Cast", (net.node("Not", (same,)),), to=ONNX_TYPES[output.type])
    net.put(output, net.node("Sub", (whole, less)))


_UNARY = {
    "ABS": "Abs", "NEG": "Neg", "EXP": "Exp", "LOG": "Log", "SQRT": "Sqrt", "SIN": "Sin", "COS": "Cos",
    "FLOOR": "Floor", "CEIL": "Ceil", "ROUND": "Round", "SIGN": "Sign", "LOGISTIC": "Sigmoid", "TANH": "Tanh",
    "LOGICAL_NOT": "Not",
}  # fmt: skip
_COMPARED = {"LESS": "Less", "GREATER": "Greater", "EQUAL": "Equal"}
_COMPARED |= {"LESS_EQUAL": "LessOrEqual", "GREATER_EQUAL": "GreaterOrEqual"}
_BINARY = {"POW": "Pow", "LOGICAL_OR": "Or", "LOGICAL_AND": "And"}

CONVERSIONS: tuple[Conversion, ...] = (
    *(conversion(code, _relu) for code in _FAMILY),
    *(conversion(code, _unary(name)) for code, name in _UNARY.items()),
    *(conversion(code, _compared(name)) for code, name in _COMPARED.items()),
    *(conversion(code, _binary(name)) for code, name in _BINARY.items()),
    conversion("NOT_EQUAL", _compared("Equal", negated=True)),
    conversion("ADD", _arithmetic("Add"), 11),
    conversion("SUB", _arithmetic("Sub"), 28),
    conversion("MUL", _arithmetic("Mul"), 21),
    conversion("DIV", _arithmetic("Div"), 29),
    conversion("MAXIMUM", _extreme("Max")),
    conversion("MINIMUM", _extreme("Min")),
    conversion("SQUARED_DIFFERENCE", _squared_difference),
    conversion("FLOOR_MOD", _floor_mod),
    conversion("FLOOR_DIV", _floor_div),
    conversion("ADD_N", _add_n),
    conversion("HARD_SWISH", _hard_swish),
    conversion("LEAKY_RELU", _leaky_relu, 75),
    conversion("ELU", _elu),
    conversion("GELU", _gelu, 116),
    conversion("PRELU", _prelu),
    conversion("RSQRT", _rsqrt),
    conversion("SQUARE", _square),
    conversion("SELECT", _select),
    conversion("SELECT_V2", _select),
)
