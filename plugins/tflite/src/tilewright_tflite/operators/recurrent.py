"""Knows operators that keep state of their own: SVDF, and LSTM over a sequence. Their state tensors are inputs and
outputs that the file itself joins. Does not know variables of a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.operators.elementwise import activated
from tilewright_tflite.operators.movement import sliced
from tilewright_tflite.operators.products import bias
from tilewright_tflite.operators.variables import initial_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

OWN_DOMAIN = "tilewright"  # of layers that ONNX lacks
_TANH = 4
_GATES = (1, 4, 2, 3)  # input, output, forget, cell: where an LSTM has its weights, in ONNX's order
_BIASES = (12, 15, 13, 14)
_ABSENT = {"peepholes": (9, 10, 11), "a projection": (16, 17), "layer normalisation": (20, 21, 22, 23)}
_OUTPUT_STATE, _CELL_STATE = 18, 19


def _state(op: Operator, net: Network, index: int) -> Tensor:
    tensor = net.input(op, index)
    if not tensor.variable:
        raise RefusedError(f"its state '{tensor.name}' is no variable")
    return tensor


def _svdf(op: Operator, net: Network) -> None:
    """Products with the newest features, over time. Inputs: x [B, I], weights of features [F, I] and of time [F, M],
    bias, state [B, F * M] with the oldest first.
    """
    x, features, times, state = net.input(op, 0), net.input(op, 1), net.input(op, 2), _state(op, net, 4)
    rank, batch = op.options.integer(0), x.shape[0] if x.shape else 0
    if len(x.shape) != 2 or len(features.shape) != 2 or len(times.shape) != 2 or features.shape[1] != x.shape[1]:
        raise RefusedError(f"its input is {x.described}, its weights {features.described} and {times.described}")
    filters, memory = times.shape
    if rank < 1 or filters % rank or filters != features.shape[0] or state.shape != (batch, filters * memory):
        raise RefusedError(f"its rank is {rank}, its state {state.described}")
    newest = net.node("Gemm", (net.real(x), net.weights(features, (0, 1))), transB=1)
    newest = net.reshaped(net.as_stored(state, newest), (batch, filters, 1))
    kept = net.kept(state, net.name(state))
    older = sliced(net, net.reshaped(kept, (batch, filters, memory)), (0, 0, 1), (batch, filters, memory))
    window = net.node("Concat", (older, newest), axis=2)
    net.keep(kept, net.reshaped(window, state.shape), initial_of(net, state), net.name(state))
    real = net.dequantised(state, window) if state.quantised else window
    value = net.node("Mul", (real, net.weights(times, (0, 1))))
    value = net.node("ReduceSum", (value, net.integers((2,), "axes")), keepdims=0)
    if rank > 1:
        value = net.reshaped(value, (batch, filters // rank, rank))
        value = net.node("ReduceSum", (value, net.integers((2,), "axes")), keepdims=0)
    if net.has(op, 3):
        value = net.node("Add", (value, bias(net, net.input(op, 3), state, times)))
    net.put(net.output(op), activated(net, value, op.options.byte(1)))


def _numbers(op: Operator, net: Network, index: int, step: float | None = None) -> Array:
    """The real numbers of weights, or of a bias that counts in steps of `step`."""
    tensor, array = net.input(op, index), net.need(op, index)
    if tensor.quantised and step is None:
        return ((array.astype(np.float32) - np.float32(tensor.zero_point)) * tensor.scale).astype(np.float32)
    return array.astype(np.float32) if step is None else (array.astype(np.float64) * step).astype(np.float32)


def _in_integers(op: Operator, net: Network) -> bool:
    """Whether it is one of those that TensorFlow Lite Micro computes in integers: values of 8 or 16 bits, weights of 8,
    cells of 16, and biases that 32 bits hold.
    """
    x, hidden, cell = net.input(op, 0), net.input(op, _OUTPUT_STATE), net.input(op, _CELL_STATE)
    tensors = [net.input(op, gate + more) for gate in _GATES for more in (0, 4)]
    whole = all(tensor.quantised and len(tensor.scales) == 1 for tensor in (x, hidden, cell, *tensors))
    if not whole or x.type not in ("int8", "int16") or (hidden.type, cell.type) != (x.type, "int16"):
        return False
    if cell.zero_point or any(tensor.type != "int8" or tensor.zero_point for tensor in tensors):
        return False
    biases = [net.need(op, place) for place in _BIASES]
    return all(bias.dtype.kind == "i" and np.abs(bias.astype(np.int64)).max(initial=0) < 2**31 for bias in biases)


def _rows(op: Operator, net: Network, more: int) -> str:
    """The weights of all gates, dequantised, with a scale for each row."""
    tensors = [net.input(op, gate + more) for gate in _GATES]
    rows = np.concatenate([net.need(op, gate + more) for gate in _GATES])[None]
    scales = np.repeat(np.array([tensor.scale for tensor in tensors], np.float32), rows.shape[1] // len(_GATES))
    operands = (net.constant(rows, "RW"[more == 0]), net.constant(scales, "scales"))
    return net.node("DequantizeLinear", operands, axis=1)


def _bias_rows(op: Operator, net: Network, x: Tensor) -> str:
    """The same of biases, those of the recurrence 0."""
    rows = np.concatenate([net.need(op, place).astype(np.int32) for place in _BIASES])
    steps = np.array([np.float32(x.scale) * np.float32(net.input(op, gate).scale) for gate in _GATES], np.float32)
    scales = np.tile(np.repeat(steps, len(rows) // len(_GATES)), 2)
    both = np.concatenate([rows, np.zeros_like(rows)])[None]
    return net.node("DequantizeLinear", (net.constant(both, "B"), net.constant(scales, "scales")), axis=1)


def _within(op: Operator, net: Network, value: str) -> str:
    """A cell within the limit that the operator has for it."""
    clip = op.options.real(1)
    if clip <= 0:
        return value
    ends = (net.constant(np.array(end, np.float32), name) for end, name in ((-clip, "low"), (clip, "high")))
    return net.node("Clip", (value, *ends))


def _lstm(op: Operator, net: Network) -> None:
    """As ONNX's LSTM. Its states say how integers of it are stored; what has another form computes in floats."""
    x, output, options = net.input(op, 0), net.output(op), op.options
    hidden, cell = _state(op, net, _OUTPUT_STATE), _state(op, net, _CELL_STATE)
    if absent := [name for name, places in _ABSENT.items() if any(net.has(op, place) for place in places)]:
        raise RefusedError(f"it has {absent[0]}")
    integers, largest = _in_integers(op, net), 32768 * float(cell.scale) if cell.quantised else np.inf
    if options.byte(0) != _TANH or options.real(2):
        raise RefusedError("its activation, or the limit of its projection, is not known")
    if len(x.shape) != 3 or len(hidden.shape) != 2 or cell.shape != hidden.shape:
        raise RefusedError(f"its input is {x.described}, its states {hidden.described} and {cell.described}")
    batch, count = hidden.shape
    sequence = net.real(x) if options.flag(3) else net.moved(net.real(x), (1, 0, 2))
    if integers:
        w, r = (_rows(op, net, more) for more in (0, 4))
        b = _bias_rows(op, net, x)
    else:
        w, r = (
            net.constant(np.concatenate([_numbers(op, net, at + more) for at in _GATES])[None], name)
            for more, name in ((0, "W"), (4, "R"))
        )
        biases = [_numbers(op, net, at, _step(net, op, x, gate)) for at, gate in zip(_BIASES, _GATES, strict=True)]
        b = net.constant(np.concatenate([*biases, np.zeros(4 * count, np.float32)])[None], "B")
    kept = [net.kept(each, net.name(each)) for each in (hidden, cell)]
    before = [
        net.reshaped(net.dequantised(each, value) if each.quantised else value, (1, batch, count))
        for each, value in zip((hidden, cell), kept, strict=True)
    ]
    if integers:
        before[1] = _within(op, net, before[1])
    names = [net.fresh(f"{op.title}/{name}") for name in ("Y", "Y_h", "Y_c")]
    limited = not integers and 0 < options.real(1) < largest
    more = {"domain": OWN_DOMAIN, "cell_limit": options.real(1)} if limited else {}
    y, *after = net.split("LSTM", (sequence, w, r, b, "", *before), names, hidden_size=count, **more)
    for tensor, state, value in zip((hidden, cell), kept, after, strict=True):
        stored = net.as_stored(tensor, net.reshaped(value, tensor.shape))
        net.keep(state, stored, initial_of(net, tensor), net.name(tensor))
    steps = x.shape[0] if options.flag(3) else x.shape[1]
    y = net.reshaped(y, (steps, batch, count))
    net.put(output, y if options.flag(3) else net.moved(y, (1, 0, 2)))


def _step(net: Network, op: Operator, x: Tensor, gate: int) -> float | None:
    """What one step of a gate's bias is; None where it is real."""
    w = net.input(op, gate)
    return float(x.scale * w.scale) if x.quantised and w.quantised else None


CONVERSIONS: tuple[Conversion, ...] = (
    conversion("SVDF", _svdf, 6),
    conversion("UNIDIRECTIONAL_SEQUENCE_LSTM", _lstm, 71),
)
