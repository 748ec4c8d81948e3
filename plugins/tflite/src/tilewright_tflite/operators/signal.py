"""Knows the operators of TensorFlow Lite Micro's signal library, whose options are FlexBuffers. Each is an operator of
`signals`. Does not know what they compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.flexbuffer import numbers_of
from tilewright_tflite.model import Operator, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.signals.parts import DOMAIN

_KINDS = MappingProxyType({0: "float32", 2: "int32", 7: "int16"})  # of numbers that are transformed
_LONGEST = 1 << 15  # samples of a transform
_TABLE = 125  # numbers of a gain's table


def option(op: Operator, name: str, low: int, high: int) -> int:
    """An option that is inside the limits. RefusedError where it is not, or is missing."""
    options = numbers_of(op.custom_options)
    if name not in options:
        raise RefusedError(f"its option '{name}' is missing")
    if not low <= options[name] <= high:
        raise RefusedError(f"its option '{name}' is {options[name]}; {low} to {high} are known")
    return options[name]


def _input(op: Operator, net: Network, index: int, kind: str, rank: int | None = 1) -> Tensor:
    return of_type(net.input(op, index), kind, rank)


def of_type(tensor: Tensor, kind: str, rank: int | None = 1) -> Tensor:
    """The tensor. RefusedError where it has another type, or another number of axes."""
    if tensor.type != kind or rank not in (None, len(tensor.shape)):
        axes = "" if rank is None else f" with {rank} axes"
        raise RefusedError(f"'{tensor.name}' is {tensor.described}; {kind}{axes} is known")
    return tensor


def _emit(
    op: Operator,
    net: Network,
    name: str,
    inputs: Sequence[str],
    kinds: Sequence[str],
    shape: tuple[int, ...],
    **numbers: int,
) -> tuple[str, ...]:
    """A node of the signal's vocabulary, and its outputs, of which the first has this shape."""
    outputs = [of_type(net.output(op, place), kind, None) for place, kind in enumerate(kinds)]
    if outputs[0].shape != shape:
        raise RefusedError(f"'{outputs[0].name}' is {outputs[0].described}; its shape is {list(shape)}")
    values = net.split(name, inputs, [net.fresh(net.name(each)) for each in outputs], domain=DOMAIN, **numbers)
    for tensor, value in zip(outputs, values, strict=True):
        net.put_stored(tensor, value)
    return values


def _window(op: Operator, net: Network) -> None:
    x, w = _input(op, net, 0, "int16", None), _input(op, net, 1, "int16")
    if x.shape[-1:] != w.shape:
        raise RefusedError(f"its window has {w.described}, its frames {x.described}")
    inputs = (net.stored(x), net.stored(w))
    _emit(op, net, "Window", inputs, ("int16",), x.shape, shift=option(op, "shift", 0, 31))


def _scale(op: Operator, net: Network) -> None:
    x = _input(op, net, 0, "int16")
    _emit(op, net, "Scale", (net.stored(x),), ("int16", "int32"), x.shape)


def _transform(op: Operator, net: Network, turn: int) -> tuple[Tensor, int, list[str]]:
    """What goes in, the samples of the transform, and its constants."""
    from tilewright_tflite.signals.transforms import complex_twiddles, real_twiddles

    kind = _KINDS.get(number := option(op, "T", 0, 7))
    if kind is None:
        raise RefusedError(f"its option 'T' is {number}; {', '.join(map(str, _KINDS))} are known")
    x = of_type(net.input(op, 0), kind, None)
    if not x.shape:
        raise RefusedError(f"'{x.name}' is {x.described}; samples along its last axis are known")
    length = option(op, "fft_length", 4, _LONGEST)
    if length & (length - 1):
        raise RefusedError(f"its transform is of {length} samples; a power of two is known")
    tables = complex_twiddles(length // 2, turn, kind), real_twiddles(length // 2, turn, kind)
    names = "twiddles", "real_twiddles"
    return x, length, [net.constant(table, name) for table, name in zip(tables, names, strict=True)]


def _put_rows(op: Operator, net: Network, name: str, x: Tensor, tables: Sequence[str], extent: int) -> None:
    """The transform of every row; further axes are rows, too."""
    output = of_type(net.output(op), x.type, None)
    if output.shape != (*x.shape[:-1], extent):
        raise RefusedError(f"'{output.name}' is {output.described}; its shape is {[*x.shape[:-1], extent]}")
    value, deep = net.stored(x), len(x.shape) > 2
    value = net.reshaped(value, (int(np.prod(x.shape[:-1])), x.shape[-1])) if deep else value
    (result,) = net.split(name, (value, *tables), (net.fresh(net.name(output)),), domain=DOMAIN)
    net.put_stored(output, net.reshaped(result, output.shape) if deep else result)


def _rfft(op: Operator, net: Network) -> None:
    x, length, tables = _transform(op, net, 1)
    if x.shape[-1] > length:
        raise RefusedError(f"its transform is of {length} samples, its input of {x.shape[-1]}")
    _put_rows(op, net, "RFFT", x, tables, length + 2)


def _irfft(op: Operator, net: Network) -> None:
    x, length, tables = _transform(op, net, -1)
    if x.shape[-1] != length + 2:
        raise RefusedError(f"its input is {x.described}; {length // 2 + 1} bins make {length} samples")
    _put_rows(op, net, "IRFFT", x, tables, length)


def _energy(op: Operator, net: Network) -> None:
    x = _input(op, net, 0, "int16")
    bins = x.shape[0] // 2
    first, end = option(op, "start_index", 0, bins), option(op, "end_index", 0, bins)
    _emit(op, net, "Energy", (net.stored(x),), ("uint32",), (bins,), first=first, end=end)


def _filter_bank(op: Operator, net: Network) -> None:
    x = _input(op, net, 0, "uint32")
    tables = [net.need(op, place).reshape(-1).astype(np.int64) for place in range(1, 6)]
    inputs = [_input(op, net, place, "int16") for place in range(1, 6)]
    weights, rests, firsts, places, widths = tables
    channels = option(op, "num_channels", 1, len(firsts) - 1)
    if {len(firsts), len(places), len(widths)} != {channels + 1} or len(weights) != len(rests):
        raise RefusedError(f"its tables are not of {channels} channels")
    inside = (firsts + widths <= x.shape[0]) & (places + widths <= len(weights))
    if not (inside & (widths >= 0) & (firsts >= 0) & (places >= 0)).all():
        raise RefusedError("its tables lead out of the spectrum, or out of its weights")
    values = (net.stored(x), *map(net.stored, inputs))
    _emit(op, net, "FilterBank", values, ("uint64",), (channels,))


def _root(op: Operator, net: Network) -> None:
    x, bits = _input(op, net, 0, "uint64"), _input(op, net, 1, "int32", 0)
    _emit(op, net, "SquareRoot", (net.stored(x), net.stored(bits)), ("uint32",), x.shape)


def _subtraction(op: Operator, net: Network) -> None:
    x, noise = _input(op, net, 0, "uint32"), of_type(net.output(op, 1), "uint32")
    if x.shape != noise.shape or option(op, "num_channels", 1, 1 << 15) != x.shape[0]:
        raise RefusedError(f"its channels are {x.described}, its noise {noise.described}")
    shares = {
        mine: option(op, theirs, 0, 2**31 - 1)
        for mine, theirs in (
            ("smoothing", "smoothing"), ("rest", "one_minus_smoothing"), ("smoothing_odd", "alternate_smoothing"),
            ("rest_odd", "alternate_one_minus_smoothing"), ("least", "min_signal_remaining"),
        )
    }  # fmt: skip
    bits, scale = option(op, "smoothing_bits", 0, 31), option(op, "spectral_subtraction_bits", 0, 31)
    clamp, name = option(op, "clamping", 0, 1), f"{net.name(noise)}_kept"
    kept = net.kept(noise, name)
    inputs = (net.stored(x), kept)
    numbers = {**shares, "bits": bits, "scale_bits": scale, "clamp": clamp}
    _, following = _emit(op, net, "SpectralSubtraction", inputs, ("uint32", "uint32"), x.shape, **numbers)
    net.keep(kept, following, net.filled(noise), name)


def _pcan(op: Operator, net: Network) -> None:
    x, noise, table = _input(op, net, 0, "uint32"), _input(op, net, 1, "uint32"), _input(op, net, 2, "int16")
    if x.shape != noise.shape or table.shape[0] < _TABLE:
        raise RefusedError(f"its noise is {noise.described}, its table {table.described}; {_TABLE} numbers are known")
    values = (net.stored(x), net.stored(noise), net.stored(table))
    _emit(op, net, "PCAN", values, ("uint32",), x.shape, snr_shift=option(op, "snr_shift", 0, 63))


def _log(op: Operator, net: Network) -> None:
    x = _input(op, net, 0, "uint32")
    bits, scale = option(op, "input_correction_bits", 0, 31), option(op, "output_scale", 0, 2**31 - 1)
    _emit(op, net, "Log", (net.stored(x),), ("int16",), x.shape, bits=bits, scale=scale)


CUSTOM: tuple[Conversion, ...] = (
    conversion("SignalWindow", _window),
    conversion("SignalFftAutoScale", _scale),
    conversion("SignalRfft", _rfft),
    conversion("SignalIrfft", _irfft),
    conversion("SignalEnergy", _energy),
    conversion("SignalFilterBank", _filter_bank),
    conversion("SignalFilterBankSquareRoot", _root),
    conversion("SignalFilterBankSpectralSubtraction", _subtraction),
    conversion("SignalPCAN", _pcan),
    conversion("SignalFilterBankLog", _log),
)
