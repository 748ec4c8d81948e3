"""Knows how TensorFlow Lite Micro's signal library cuts a stream into frames and joins frames again: operators that
delay, frame, stack, and add what overlaps. Each keeps the end of what it has seen, as a state of the file.
Does not know spectra.

What that library leaves unwritten until there is enough of the stream is made of zeros here, or of the first frame.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.api import ceil_div
from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.operators.signal import of_type, option

_LONGEST = 1 << 20  # samples of a state
_MOST_FRAMES = 256  # of one run
_FLOAT, _INT16 = 0, 7


def _delay(op: Operator, net: Network) -> None:
    x, output = _sound(op, net)
    length, size = option(op, "delay_length", 0, _LONGEST), x.shape[-1]
    if output.shape != x.shape:
        raise RefusedError(f"its output is {output.described}, its input {x.described}")
    if not length:
        net.put_stored(output, net.stored(x))
        return
    joined = _continued(net, x, length, net.name(output))
    net.put_stored(output, _part(net, joined, 0, size))


def _framer(op: Operator, net: Network) -> None:
    x, output = _sound(op, net)
    size, step = option(op, "frame_size", 1, _LONGEST), option(op, "frame_step", 1, _LONGEST)
    prefill, count = option(op, "prefill", 0, 1), x.shape[-1] // step
    if x.shape[-1] % step or not 1 <= count <= _MOST_FRAMES:
        raise RefusedError(f"its input is {x.described}; 1 to {_MOST_FRAMES} steps of {step} are known")
    if prefill and size < step:
        raise RefusedError(
            f"its frames of {size} samples are shorter than a step of {step}, and filled before the first"
        )
    if output.shape != (*x.shape[:-1], count, size):
        raise RefusedError(f"its output is {output.described}; {count} frames of {size} samples are known")
    before = ceil_div(size, step) - 1  # frames that are not whole at first
    held = size - step if prefill else before * step
    joined = _continued(net, x, held, net.name(output)) if held else net.stored(x)
    frames = [_part(net, joined, at * step, at * step + size) for at in range(count)]
    shape = (*x.shape[:-1], 1, size)
    rows = [net.reshaped(frame, shape) for frame in frames]
    net.put_stored(output, rows[0] if count == 1 else net.node("Concat", rows, axis=len(shape) - 2))
    _valid(op, net, 0 if prefill else ceil_div(before, count), 1)


def _stacker(op: Operator, net: Network) -> None:
    x, output = _sound(op, net)
    channels = option(op, "num_channels", 1, _LONGEST)
    left, right = (option(op, f"stacker_{side}_context", 0, _LONGEST // channels) for side in ("left", "right"))
    step, frames = option(op, "stacker_step", 1, left + right + 1), left + right + 1
    if x.shape != (channels,) or output.shape != (channels * frames,):
        raise RefusedError(f"it makes {output.described} of {x.described}; {frames} frames of {channels} are known")
    counted = _valid(op, net, right, step, first=right + step)
    if frames == 1:
        net.put_stored(output, net.stored(x))
        return
    state = _state_of(net, x, (frames - 1) * channels, f"{net.name(output)}_kept")
    filled = net.node("Tile", (net.stored(x), net.integers((frames - 1,), "repeats")))
    kept = net.node("Where", (counted, filled, state)) if left else state
    joined = net.node("Concat", (kept, net.stored(x)), axis=0)
    net.put_stored(output, joined)
    _go_on(net, state, _part(net, net.stored(output), channels, frames * channels), x, (frames - 1) * channels)


def _overlap_add(op: Operator, net: Network) -> None:
    kind = {_FLOAT: "float32", _INT16: "int16"}.get(option(op, "T", 0, _INT16), "")
    x, output, step = net.input(op, 0), net.output(op), option(op, "frame_step", 1, _LONGEST)
    if len(x.shape) < 2 or x.type != kind or output.type != kind:
        raise RefusedError(f"it makes {output.described} of {x.described}; frames of int16 or float32 are known")
    *outer, count, size = x.shape
    if step > size or count > _MOST_FRAMES or output.shape != (*outer, count * step):
        raise RefusedError(f"it makes {output.described} of {x.described} with steps of {step}")
    form = replace(x, shape=(*outer, size))
    state = _state_of(net, form, size, f"{net.name(output)}_kept")
    parts, sums = [], state
    for at in range(count):
        frame = net.reshaped(_part(net, net.stored(x), at, at + 1, axis=-2), form.shape)
        sums = _added(net, sums, frame, kind)
        parts.append(_part(net, sums, 0, step))
        zeros = net.constant(np.zeros((*outer, step), kind), "nothing")
        sums = net.node("Concat", (_part(net, sums, step, size), zeros), axis=len(outer)) if step < size else zeros
    net.put_stored(output, parts[0] if count == 1 else net.node("Concat", parts, axis=len(outer)))
    _go_on(net, state, sums, form, size)


def _added(net: Network, a: str, b: str, kind: str) -> str:
    """The sum, limited to what 16 bits hold."""
    if kind == "float32":
        return net.node("Add", (a, b))
    wide = (net.node("Cast", (each,), to=_onnx("int32")) for each in (a, b))
    low, high = (net.constant(np.array(limit, np.int32), "limit") for limit in (-(2**15), 2**15 - 1))
    return net.node("Cast", (net.node("Clip", (net.node("Add", tuple(wide)), low, high)),), to=_onnx("int16"))


def _onnx(kind: str) -> int:
    from onnx import helper

    return int(helper.np_dtype_to_tensor_dtype(np.dtype(kind)))


def _sound(op: Operator, net: Network) -> tuple[Tensor, Tensor]:
    """Samples of 16 bits, and what is made of them."""
    x = of_type(net.input(op, 0), "int16", None)
    if not x.shape or 0 in x.shape:
        raise RefusedError(f"'{x.name}' is {x.described}; samples along its last axis are known")
    return x, of_type(net.output(op), "int16", None)


def _state_of(net: Network, form: Tensor, length: int, name: str) -> str:
    """What the run before has left: as `form`, but for the last axis."""
    return net.kept(_form(form, length), name)


def _form(form: Tensor, length: int) -> Tensor:
    return replace(form, shape=(*form.shape[:-1], length), scales=np.zeros(0, np.float32), data=None)


def _go_on(net: Network, state: str, value: str, form: Tensor, length: int) -> None:
    """The next run has `value` where this one had `state`, which was 0 at first."""
    net.keep(state, value, net.filled(_form(form, length)), state)


def _continued(net: Network, x: Tensor, length: int, name: str) -> str:
    """The last `length` samples before x, and x."""
    state = _state_of(net, x, length, f"{name}_kept")
    joined = net.node("Concat", (state, net.stored(x)), axis=len(x.shape) - 1)
    _go_on(net, state, _part(net, joined, x.shape[-1], x.shape[-1] + length), x, length)
    return joined


def _part(net: Network, value: str, start: int, end: int, axis: int = -1) -> str:
    ends = (net.integers((number,), hint) for number, hint in ((start, "start"), (end, "end"), (axis, "axis")))
    return net.node("Slice", (value, *ends))


def _valid(op: Operator, net: Network, missing: int, step: int, first: int = 0) -> str:
    """Whether the output is made of what has been seen: not in the first `missing` runs, then in one of `step`. Its
    value, where `first` is given, is whether this is the first run.
    """
    output = of_type(net.output(op, 1), "bool", 0)
    if not missing and step == 1 and not first:
        net.put_known(output, np.array(True))
        return ""
    name = f"{net.name(output)}_left"
    form = replace(output, type="int32", shape=(), scales=np.zeros(0, np.float32), data=None)
    state = net.kept(form, name)
    started = "" if not first else net.node("Equal", (state, _number(net, first)))
    left = net.node("Where", (started, _number(net, missing), state)) if started else state
    done = net.node("Equal", (left, _number(net, 0)))
    net.put_stored(output, done)
    done = net.stored(output)
    less = net.node("Sub", (left, _number(net, 1)))
    following = net.node("Where", (done, _number(net, step - 1), less))
    net.keep(state, following, np.array(first or missing, np.int32), name)
    return started


def _number(net: Network, value: int) -> str:
    return net.constant(np.array(value, np.int32), "number")


CUSTOM: tuple[Conversion, ...] = (
    conversion("SignalDelay", _delay),
    conversion("SignalFramer", _framer),
    conversion("SignalStacker", _stacker),
    conversion("SignalOverlapAdd", _overlap_add),
)
