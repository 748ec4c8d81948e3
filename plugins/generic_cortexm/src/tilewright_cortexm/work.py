"""Knows what the loops of portable C go through for a part of a layer, in numbers: calls, windows, runs, products.
Does not know what any of it takes on a core (`instructions`), nor kernels of this package, which count themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import TileShape, scaled_sum_form, sum_requant, windows_of

BYTES = (DType.I8, DType.U8)
Trips = Mapping[str, float]  # what is gone through -> how often


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one call goes through. Layers of one `kind` run the same code, and differ in numbers only."""

    kind: str
    trips: Trips


def work_of(op: str, tile: TileShape) -> Work:
    """Of a part of a layer: what the whole of it goes through, in proportion, but for the call."""
    whole = whole_work(op, tile.site)
    shares = _Shares.of(tile)
    spread = {
        name: count * (1.0 if name == "call" else shares.pixels if name in _EVERY_OUTPUT else shares.points)
        for name, count in whole.trips.items()
    }
    return Work(kind=whole.kind, trips=spread)


_EVERY_OUTPUT = ("window", "row")  # once for all channels of an output


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shares:
    """Parts of a layer's loops that a tile has: of all, and of those that are not over its channels."""

    points: float
    pixels: float

    @classmethod
    def of(cls, tile: TileShape) -> _Shares:
        points = pixels = 1.0
        for loop in tile.access.loops:
            part = tile.extent(loop.name) / max(1, loop.extent)
            points *= part
            pixels *= 1.0 if loop.name in ("o", "n_") else part
        return cls(points=points, pixels=pixels)


def whole_work(op: str, site: Site) -> Work:
    """Of a whole layer."""
    result = _WORK.get(op, _elements)(site)
    return Work(kind=f"{result.kind} {_types(site)}", trips=result.trips)


def _types(site: Site) -> str:
    inputs = [tensor.dtype.value for tensor in site.inputs[:1] if tensor is not None]
    return "-".join(dict.fromkeys((*inputs, site.output.dtype.value)))


def _windows(site: Site) -> Work:
    """Of a convolution: four outputs of a window at a time where they read the same channels."""
    outputs, each, *_ = site.input(1).shape
    group = site.node.integer("group", 1)
    depthwise, whole = 1 < group == outputs, site.node.op == "QConv"
    fours = outputs // 4 if depthwise and whole else group * (outputs // group // 4)
    ones = outputs - 4 * fours
    if depthwise and not whole:
        fours, ones = 0, outputs
    seen = _seen(site)
    joined = whole and group == 1 and windows_of(site.node).dilations[-1] == 1
    runs = seen.rows if joined else seen.taps
    trips = {
        "call": 1.0,
        "window": float(seen.windows),
        "group": float(seen.windows * group) if 1 < group < outputs else 0.0,
        "four": float(seen.windows * fours),
        "one": float(seen.windows * ones),
        "run of four": float(runs * fours),
        "run of one": float(runs * ones),
        "product of four": 4.0 * seen.taps * each * fours,
        "product of one": float(seen.taps * each * ones),
    }
    pointwise = math.prod(site.input(1).shape[2:]) == 1
    special = "depthwise" if depthwise else "grouped" if group > 1 else "pointwise" if pointwise else ""
    kind = f"{site.node.op} {special}".rstrip()
    if site.node.op == "QConv":
        zero = site.node.integer("x_zero_point", 0)
        padding = site.node.integer("pad_value", zero) != zero
        trips["product of an offset"] = float(seen.taps * each * outputs) if zero else 0.0
        trips["product outside"] = float(seen.outside * each * outputs) if padding else 0.0
        length = each * (1 if not joined else windows_of(site.node).kernel[-1])
        trips["run"] = float(runs * group)
        trips["rest of a run"] = float(runs * group * (length % 4))
        trips["element outside"] = float(seen.outside * each * group)
        trips |= _requantised(site, seen.windows * outputs)
    return Work(kind=kind, trips=trips)


def _requantised(site: Site, outputs: int) -> dict[str, float]:
    """Outputs by their form: in integers (proved equal, or another rounding than `onnx`), or computed in float."""
    proved = sum_requant(site).proved if site.node.rounding == "onnx" else (True,)
    part = sum(proved) / max(1, len(proved))
    return {"output": outputs * part, "float output": outputs * (1 - part)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """Of one channel of a layer of windows."""

    windows: int
    taps: int  # inside, of all windows
    rows: int  # of taps, of which one or more is inside
    outside: int  # taps on padding


def _seen(site: Site) -> _Seen:
    windows, shape = windows_of(site.node), site.input(0).shape
    outputs = site.output.shape[2:]
    inside = [
        sum(0 <= at * stride - before + tap * dilation < size for at in range(count) for tap in range(kernel))
        for count, size, kernel, stride, dilation, before in zip(
            outputs, shape[2:], windows.kernel, windows.strides, windows.dilations, windows.before, strict=True
        )
    ]
    count, taps = shape[0] * math.prod(outputs), shape[0] * math.prod(inside)
    rows = shape[0] * math.prod(inside[:-1]) * outputs[-1]
    return _Seen(windows=count, taps=taps, rows=rows, outside=count * math.prod(windows.kernel) - taps)


def _narrow_blocks(site: Site) -> Work:
    """Of a product with weights of a few bits, whose blocks have scales."""
    elements, (_, depth), (_, blocks) = site.output.elements, site.input(1).shape, site.input(2).shape
    trips = {
        "call": 1.0,
        "element": float(elements),
        "block": float(elements * blocks),
        "product": float(elements * depth),
    }
    return Work(kind=site.node.op, trips=trips)


def _products(site: Site) -> Work:
    """Of a matrix product: four columns of a row at a time."""
    depth = site.input(0).shape[-1]
    columns = site.output.shape[-1] if len(site.input(1).shape) > 1 else 1
    rows = site.output.elements // max(1, columns)
    trips = {
        "call": 1.0,
        "row": float(rows),
        "four": float(rows * (columns // 4)),
        "one": float(rows * (columns % 4)),
        "product of four": 4.0 * rows * (columns // 4) * depth,
        "product of one": float(rows * (columns % 4) * depth),
    }
    if site.node.op in ("QGemm", "QMatMul"):
        trips |= _requantised(site, site.output.elements)
    constant = "" if site.constant(1) is not None else " computed"
    return Work(kind=f"{site.node.op}{constant}", trips=trips)


def _pool(site: Site) -> Work:
    seen, channels = _seen(site), site.output.shape[1]
    fours, ones, quads = channels // 4, channels % 4, ceil_div(channels, 4)
    trips = {
        "call": 1.0,
        "window": float(seen.windows),
        "row of taps": float(seen.rows * channels),
        "tap": float(seen.taps * channels),
        "tap of a window": float(seen.taps),
        "four": float(seen.windows * fours),
        "one": float(seen.windows * ones),
        "tap of four": float(seen.taps * fours),
        "tap of one": float(seen.taps * ones),
        "quad": float(seen.windows * quads),
        "row of quads": float(seen.rows * quads),
        "tap of quads": float(seen.taps * quads),
    }
    outputs = seen.windows * channels
    in_float = site.node.op == "QAveragePool"  # as all that were counted are
    more = {"float output" if in_float else "output": float(outputs)}
    more |= {"quotient": float(outputs)} if in_float and site.node.rounding == "rational" else {}
    return Work(kind=site.node.op, trips={**trips, **more})


def _reduction(site: Site) -> Work:
    outputs, read = site.output.elements, site.input(0).elements
    more = _requantised(site, outputs) if site.node.op == "QReduceMean" else {"output": float(outputs)}
    axes, rank = site.node.integers("axes") or (site.node.integer("axis", 0),), len(site.input(0).shape)
    whole = all(axis % max(1, rank) >= rank - len(axes) for axis in axes)
    kind = site.node.op if whole else f"{site.node.op} of columns"
    return Work(kind=kind, trips={"call": 1.0, "element": float(read), **more})


def _rows(site: Site) -> Work:
    read, axis = site.input(0).elements, site.node.integer("axis", -1)
    length = site.input(0).shape[axis] if site.input(0).shape else 1
    return Work(kind=site.node.op, trips={"call": 1.0, "row": read / max(1, length), "element": float(read)})


def _elements(site: Site) -> Work:
    """Of operators that go through every output."""
    outputs = site.output.elements
    row = site.output.shape[-1] if site.output.shape else 1
    second = site.inputs[1] if len(site.inputs) > 1 else None
    pair = second is not None and second.elements == outputs
    partly = second is not None and 1 < second.elements < outputs
    trips = {"call": 1.0, "row of outputs": outputs / max(1, row), "element": float(outputs)}
    trips |= {"element of two": float(outputs) if pair else 0.0, "element of a run": float(outputs) if partly else 0.0}
    return Work(kind=site.node.op, trips=trips)


def _moved(site: Site) -> Work:
    """Of a value that gets or loses padding: by the function that transposes."""
    return Work(kind="Transpose", trips=_elements(site).trips)


def _joined(site: Site) -> Work:
    """Of a Concat: every input is copied in pieces of what lies together."""
    axis, shape = site.node.integer("axis", 0), site.output.shape
    pieces = math.prod(shape[:axis]) * len(site.inputs)
    result = _elements(site)
    return Work(kind=result.kind, trips={"call": 1.0, "piece": float(pieces), "element": result.trips["element"]})


def _padded(site: Site) -> Work:
    result = _elements(site)
    return Work(kind=f"Pad {site.node.attributes.get('mode', 'constant')}", trips=result.trips)


def _spread(site: Site) -> Work:
    """Of a ConvTranspose: a product for every element of the input, tap and output channel."""
    products = site.input(0).elements * math.prod(site.input(1).shape[1:])
    constant = "" if site.constant(1) is not None else " computed"
    grouped = " grouped" if site.node.integer("group", 1) > 1 else ""
    trips = {"call": 1.0, "product": float(products), "element": float(site.output.elements)}
    return Work(kind=f"ConvTranspose{grouped}{constant}", trips=trips)


def _sum(site: Site) -> Work:
    form = scaled_sum_form(site)
    result = _elements(site)
    return Work(kind=f"QAdd of {form.bits if form else 0} bits", trips=result.trips)


def _product(site: Site) -> Work:
    result = _elements(site)
    if site.node.rounding != "onnx":
        return Work(kind="QMul of 64 bits", trips=result.trips)
    form = sum_requant(site)
    kind = "QMul" if all(form.proved) else "QMul in float"
    return Work(kind=kind if form.shift > 32 else f"{kind} of 64 bits", trips=result.trips)


def _recurrent(site: Site) -> Work:
    """Of steps of an LSTM, GRU or RNN: the gates' products, and the functions of every unit."""
    steps, batches, gates = site.input(0).shape
    units = site.input(1).shape[-1]
    more = sum(tensor is not None for tensor in site.inputs) > 2
    return Work(
        kind=f"{site.node.op}{' with more' if more else ''}",
        trips={
            "call": 1.0,
            "step": float(steps * batches),
            "unit": float(steps * batches * units),
            "product": float(steps * batches * gates * units),
        },
    )


def _integer_recurrent(site: Site) -> Work:
    """The same of a QLSTM or QGRU, whose products with the input are its own."""
    (steps, batches, inputs), (rows, units) = site.input(0).shape, site.input(2).shape
    wide = site.input(0).dtype is DType.I16
    return Work(
        kind=f"{site.node.op}{' of words' if wide else ''}",
        trips={
            "call": 1.0,
            "unit": float(steps * batches * units),
            "product": float(steps * batches * rows * (inputs + units)),
        },
    )


_WORK: Mapping[str, Callable[[Site], Work]] = {
    **dict.fromkeys(("Conv", "QConv", "ConvInteger"), _windows),
    **dict.fromkeys(("Gemm", "QGemm", "MatMul", "QMatMul", "MatMulInteger"), _products),
    **dict.fromkeys(("MaxPool", "AveragePool", "QAveragePool", "MaxPoolIndices"), _pool),
    **dict.fromkeys(
        (
            "QReduceMean", "ReduceMean", "ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ArgMax", "ArgMin",
            "TopK",
        ),
        _reduction,
    ),
    **dict.fromkeys(("Softmax", "LogSoftmax", "QSoftmax", "LayerNormalization", "RMSNormalization"), _rows),
    **dict.fromkeys(("LSTMSteps", "GRUSteps", "RNNSteps"), _recurrent),
    **dict.fromkeys(("QLSTM", "QGRU"), _integer_recurrent),
    **dict.fromkeys(("ToStored", "FromStored"), _moved),
    "Concat": _joined,
    "MatMulNBits": _narrow_blocks,
    "ConvTranspose": _spread,
    "Pad": _padded,
    "QAdd": _sum,
    "QMul": _product,
}  # fmt: skip
