"""Knows operators over whole axes: means, sums, extremes and their places, softmax and norms.
Does not know how numbers are stored.
"""

from __future__ import annotations

from tilewright_tflite.conversion import Conversion, Convert, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.onnx_types import ONNX_TYPES
from tilewright_tflite.operators.elementwise import scalar
from tilewright_tflite.operators.movement import axis_of

_SMALLEST = 1e-6  # of a norm that is divided by


def _reduced(name: str, *, stored: bool = False) -> Convert:
    """`stored`: the result is one of the elements, so that the integers themselves are looked at."""

    def convert(op: Operator, net: Network) -> None:
        x, output = net.input(op, 0), net.output(op)
        axes = sorted({axis_of(axis, len(x.shape)) for axis in net.need_integers(op, 1)})
        kept = int(op.options.flag(0))
        plain = stored and x.same_scale(output) and x.type in ("int8", "uint8")
        value = net.stored(x) if plain else net.real(x)
        value = net.node(name, (value, net.integers(axes, "axes")), keepdims=kept, noop_with_empty_axes=1)
        if plain:
            net.put_stored(output, value)
        else:
            net.put(output, value)

    return convert


def _truth(name: str) -> Convert:
    """Of truth values, counted as 0 and 1."""

    def convert(op: Operator, net: Network) -> None:
        x = net.input(op, 0)
        axes = sorted({axis_of(axis, len(x.shape)) for axis in net.need_integers(op, 1)})
        numbers = net.node("Cast", (net.stored(x),), to=ONNX_TYPES["int32"])
        value = net.node(name, (numbers, net.integers(axes, "axes")), keepdims=int(op.options.flag(0)))
        net.put_stored(net.output(op), net.node("Cast", (value,), to=ONNX_TYPES["bool"]))

    return convert


def _place(name: str) -> Convert:
    def convert(op: Operator, net: Network) -> None:
        x, output = net.input(op, 0), net.output(op)
        (axis,) = net.need_integers(op, 1)
        value = net.node(name, (net.stored(x),), axis=axis_of(axis, len(x.shape)), keepdims=0)
        if output.type not in ("int32", "int64"):
            raise RefusedError(f"its output is {output.described}")
        net.put_stored(output, net.node("Cast", (value,), to=ONNX_TYPES[output.type]))

    return convert


def _softmax(op: Operator, net: Network) -> None:
    value, beta = net.real(net.input(op, 0)), op.options.real(0)
    if beta != 1.0:
        value = net.node("Mul", (value, scalar(net, beta, "beta")))
    net.put(net.output(op), net.node("Softmax", (value,), axis=-1))


def _log_softmax(op: Operator, net: Network) -> None:
    net.put(net.output(op), net.node("LogSoftmax", (net.real(net.input(op, 0)),), axis=-1))


def _l2_normalization(op: Operator, net: Network) -> None:
    value = net.real(net.input(op, 0))
    norm = net.node("ReduceL2", (value, net.integers((-1,), "axes")), keepdims=1)
    floor = net.node("Max", (norm, scalar(net, _SMALLEST, "smallest")))
    net.put(net.output(op), net.node("Div", (value, floor)))


def _cumsum(op: Operator, net: Network) -> None:
    (axis,) = net.need_integers(op, 1)
    place = net.integers((axis,), "axis")
    exclusive, reverse = int(op.options.flag(0)), int(op.options.flag(1))
    x = net.real(net.input(op, 0))
    net.put(net.output(op), net.node("CumSum", (x, place), exclusive=exclusive, reverse=reverse))


def _quantize(op: Operator, net: Network) -> None:
    """QUANTIZE, of real numbers or of others that are quantised; DEQUANTIZE."""
    x, output = net.input(op, 0), net.output(op)
    array = net.known(x)
    if x.type == "float16" and array is not None:
        net.put_known(output, array.astype("float32"))
    elif x.type == "float16":
        net.put_stored(output, net.node("Cast", (net.stored(x),), to=ONNX_TYPES["float32"]))
    elif "int32" in (x.type, output.type):
        _of_32_bits(net, x, output)
    elif x.quantised or output.quantised:
        net.put(output, net.real(x))
    else:
        raise RefusedError("neither its input nor its output is quantised")


def _of_32_bits(net: Network, x: Tensor, output: Tensor) -> None:
    """Numbers of 32 bits have scales, too, and QuantizeLinear does not know them."""
    value = net.real(x)
    if x.type == "int32" and len(x.scales) == 1:
        value = net.node("Cast", (value,), to=ONNX_TYPES["float32"])
        value = net.node("Sub", (value, scalar(net, x.zero_point, "zero"))) if x.zero_point else value
        value = net.node("Mul", (value, scalar(net, float(x.scale), "scale")))
    if output.type == "int32" and len(output.scales) == 1 and output.scale > 0:
        value = net.node("Round", (net.node("Div", (value, scalar(net, float(output.scale), "scale"))),))
        value = net.node("Add", (value, scalar(net, output.zero_point, "zero"))) if output.zero_point else value
        net.put_stored(output, net.node("Cast", (value,), to=ONNX_TYPES["int32"]))
    elif output.type != "int32":
        net.put(output, value)
    else:
        raise RefusedError(f"its output '{output.name}' has no scale")


def _cast(op: Operator, net: Network) -> None:
    x, output = net.input(op, 0), net.output(op)
    if output.type not in ONNX_TYPES:
        raise RefusedError(f"it makes {output.type} of {x.type}")
    net.put_stored(output, net.node("Cast", (net.stored(x),), to=ONNX_TYPES[output.type]))


CONVERSIONS: tuple[Conversion, ...] = (
    conversion("MEAN", _reduced("ReduceMean"), 27),
    conversion("SUM", _reduced("ReduceSum"), 27),
    conversion("REDUCE_PROD", _reduced("ReduceProd"), 27),
    conversion("REDUCE_MAX", _reduced("ReduceMax", stored=True), 27),
    conversion("REDUCE_MIN", _reduced("ReduceMin", stored=True), 27),
    conversion("REDUCE_ANY", _truth("ReduceMax"), 27),
    conversion("REDUCE_ALL", _truth("ReduceMin"), 27),
    conversion("ARG_MAX", _place("ArgMax"), 40),
    conversion("ARG_MIN", _place("ArgMin"), 57),
    conversion("SOFTMAX", _softmax, 9),
    conversion("LOG_SOFTMAX", _log_softmax),
    conversion("L2_NORMALIZATION", _l2_normalization, 12),
    conversion("CUMSUM", _cumsum, 102),
    conversion("QUANTIZE", _quantize),
    conversion("DEQUANTIZE", _quantize),
    conversion("CAST", _cast),
)
