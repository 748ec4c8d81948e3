"""Draws float graphs: a version of the operators from 7 to 22, inputs of 0 to 4 axes (some without elements) and one to
five nodes of some 80 operators, with the values that onnx's own reference computes on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = npt.NDArray[np.generic]
FIRST, LAST = 7, 22  # operator sets
EXTENTS = (1, 2, 3, 5)

UNARY = {
    "Relu": 7, "Sigmoid": 7, "Tanh": 7, "Exp": 7, "Neg": 7, "Abs": 7, "Sqrt": 7, "Log": 7, "Reciprocal": 7,
    "Softplus": 7, "Softsign": 7, "Elu": 7, "Selu": 7, "LeakyRelu": 7, "HardSigmoid": 7, "Sin": 7, "Cos": 7, "Tan": 7,
    "Atan": 7, "Identity": 7, "Dropout": 7, "Erf": 9, "Sinh": 9, "Cosh": 9, "Asinh": 9, "Celu": 12, "HardSwish": 14,
    "Mish": 18, "Gelu": 20, "Asin": 7, "Acos": 7, "Atanh": 9, "Acosh": 9,
}  # fmt: skip
STEPS = {"Floor": 7, "Ceil": 7, "Sign": 9, "Round": 11, "ThresholdedRelu": 10, "IsNaN": 9, "Shrink": 9}
BINARY = {"Add": 7, "Sub": 7, "Mul": 7, "Div": 7, "Pow": 7, "Max": 8, "Min": 8, "Sum": 8, "Mean": 8, "PRelu": 7}
REDUCE = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")


class Unfit(Exception):
    """An operator that does not fit the values at hand."""


@dataclass(slots=True, kw_only=True)
class Drawing:
    """A graph being drawn: its nodes, and the values that there are, as one reference computes them."""

    random: np.random.Generator
    opset: int
    extents: Sequence[int]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    inputs: dict[str, Array] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    raw: set[str] = field(default_factory=set)  # values on which steps do not hang on a rounding

    def choice(self, items: Sequence[Any]) -> Any:
        return items[int(self.random.integers(len(items)))]

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        rank = int(self.random.integers(0, 5)) if rank is None else rank
        empty = self.random.random() < 0.06
        extents = [self.choice(self.extents) for _ in range(rank)]
        if empty and rank:
            extents[int(self.random.integers(rank))] = 0
        return tuple(extents)

    def floats(self, shape: Sequence[int]) -> Array:
        """Multiples of a quarter, so that steps are taken where everybody takes them."""
        return (self.random.integers(-12, 13, tuple(shape)) / 4).astype(np.float32)

    def constant(self, array: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def integers(self, values: Sequence[int]) -> str:
        return self.constant(np.asarray(values, np.int64))

    def value(self, *, rank: int | None = None, least: int = 0, raw: bool = False) -> str:
        """A value there is, of so many axes."""
        fitting = [
            name
            for name, shape in self.shapes.items()
            if (rank is None or len(shape) == rank) and len(shape) >= least and (not raw or name in self.raw)
        ]
        if not fitting:
            raise Unfit
        return str(fitting[-1] if self.random.random() < 0.6 else self.choice(fitting))

    def beside(self, name: str) -> str:
        """A value that broadcasts with another: one there is, or a new constant."""
        shape = self.shapes[name]
        fitting = [other for other, extents in self.shapes.items() if _broadcasts(shape, extents)]
        if fitting and self.random.random() < 0.5:
            return str(self.choice(fitting))
        own = [extent if self.random.random() < 0.7 else 1 for extent in shape]
        return self.constant(self.floats(own[int(self.random.integers(0, len(own) + 1)) :]))

    def axis(self, name: str) -> int:
        rank = len(self.shapes[name])
        if not rank:
            raise Unfit
        return int(self.random.integers(-rank, rank))

    def add(self, op: str, inputs: Sequence[str], *, outputs: int = 1, **attributes: Any) -> list[str]:
        names = [f"v{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f"n{len(self.nodes)}", **attributes))
        return names


def _broadcasts(left: Sequence[int], right: Sequence[int]) -> bool:
    try:
        np.broadcast_shapes(left, right)
    except ValueError:
        return False
    return True


Draw = Callable[[Drawing], object]


def _unary(op: str) -> Draw:
    return lambda d: d.add(op, [d.value()])


def _step(op: str) -> Draw:
    def draw(d: Drawing) -> None:
        (result,) = d.add(op, [d.value(raw=True)])
        if op == "IsNaN":
            d.add("Cast", [result], to=TensorProto.FLOAT)

    return draw


def _binary(op: str) -> Draw:
    def draw(d: Drawing) -> None:
        x = d.value()
        slope = d.constant(d.floats(d.shapes[x][-1:] if d.shapes[x] else ())) if op == "PRelu" else d.beside(x)
        d.add(op, [x, slope])

    return draw


def _clip(d: Drawing) -> None:
    if d.opset < 11:
        d.add("Clip", [d.value()], min=-0.5, max=1.5)
    else:
        d.add("Clip", [d.value(), d.constant(np.float32(-0.5)), d.constant(np.float32(1.5))])


def _where(d: Drawing) -> None:
    if d.opset < 9:
        raise Unfit
    x = d.value(raw=True)
    (mask,) = d.add(d.choice(("Greater", "Less")), [x, d.constant(np.float32(0.25))])
    d.add("Where", [mask, x, d.beside(x)])


def _cast(d: Drawing) -> None:
    (result,) = d.add("Cast", [d.value(raw=True)], to=d.choice((TensorProto.INT32, TensorProto.INT8)))
    d.add("Cast", [result], to=TensorProto.FLOAT)


def _reduce(kind: str) -> Draw:
    def draw(d: Drawing) -> None:
        x = d.value(least=1)
        rank = len(d.shapes[x])
        axes = sorted({int(axis) for axis in d.random.integers(0, rank, int(d.random.integers(1, rank + 1)))})
        keep = int(d.random.integers(2))
        if d.opset >= (13 if kind == "Sum" else 18):
            d.add(f"Reduce{kind}", [x, d.integers(axes)], keepdims=keep)
        else:
            d.add(f"Reduce{kind}", [x], axes=axes, keepdims=keep)

    return draw


def _arg(d: Drawing) -> None:
    x = d.value(least=1, raw=True)
    (result,) = d.add(d.choice(("ArgMax", "ArgMin")), [x], axis=d.axis(x) % len(d.shapes[x]), keepdims=1)
    d.add("Cast", [result], to=TensorProto.FLOAT)


def _rows(op: str) -> Draw:
    def draw(d: Drawing) -> None:
        x = d.value(least=1)
        axis = d.axis(x)
        d.add(op, [x], axis=axis if d.opset >= 13 else axis % len(d.shapes[x]))

    return draw


def _cum_sum(d: Drawing) -> None:
    if d.opset < 11:
        raise Unfit
    x = d.value(least=1)
    d.add("CumSum", [x, d.constant(np.int64(d.axis(x)))], exclusive=int(d.random.integers(2)), reverse=1)


def _top_k(d: Drawing) -> None:
    x = d.value(least=1, raw=True)
    axis = d.axis(x) % len(d.shapes[x])
    k = min(2, d.shapes[x][axis])
    if d.opset < 10:
        d.add("TopK", [x], outputs=2, axis=axis, k=k)
    else:
        d.add("TopK", [x, d.integers([k])], outputs=2, axis=axis)


def _transpose(d: Drawing) -> None:
    x = d.value()
    d.add("Transpose", [x], perm=[int(axis) for axis in d.random.permutation(len(d.shapes[x]))])


def _reshape(d: Drawing) -> None:
    x = d.value(least=1)
    shape = list(d.shapes[x])
    if 0 in shape:
        raise Unfit
    at = int(d.random.integers(len(shape)))
    d.add("Reshape", [x, d.integers([*shape[:at], -1, *([1] if d.random.random() < 0.5 else [])])])


def _flatten(d: Drawing) -> None:
    x = d.value(least=1)
    d.add("Flatten", [x], axis=int(d.random.integers(0, len(d.shapes[x]) + 1)))


def _unsqueeze(d: Drawing) -> None:
    x = d.value()
    at = int(d.random.integers(0, len(d.shapes[x]) + 1))
    if d.opset < 13:
        d.add("Unsqueeze", [x], axes=[at])
    else:
        d.add("Unsqueeze", [x, d.integers([at])])


def _squeeze(d: Drawing) -> None:
    x = d.value(least=1)
    single = [axis for axis, extent in enumerate(d.shapes[x]) if extent == 1]
    if not single:
        raise Unfit
    if d.opset < 13:
        d.add("Squeeze", [x], axes=single)
    else:
        d.add("Squeeze", [x, d.integers(single)])


def _slice(d: Drawing) -> None:
    x = d.value(least=1)
    axis = d.axis(x) % len(d.shapes[x])
    start, end = int(d.random.integers(-4, 4)), int(d.random.integers(-4, 7))
    if d.opset < 10:
        d.add("Slice", [x], axes=[axis], starts=[start], ends=[end])
    else:
        step = d.choice((1, 1, 2, -1))
        d.add("Slice", [x, *(d.integers([number]) for number in (start, end, axis, step))])


def _concat(d: Drawing) -> None:
    x = d.value(least=1)
    axis = d.axis(x) % len(d.shapes[x])
    shape = [*d.shapes[x]]
    shape[axis] = d.choice((0, 1, 2))
    d.add("Concat", [x, d.constant(d.floats(shape)), x], axis=axis)


def _split(d: Drawing) -> None:
    x = d.value(least=1)
    axis = d.axis(x) % len(d.shapes[x])
    extent = d.shapes[x][axis]
    if extent < 2:
        raise Unfit
    parts = [1, extent - 1]
    if d.opset < 13:
        d.add("Split", [x], outputs=2, axis=axis, split=parts)
    else:
        d.add("Split", [x, d.integers(parts)], outputs=2, axis=axis)


def _pad(d: Drawing) -> None:
    x = d.value(least=1)
    shape = d.shapes[x]
    mode = d.choice(("constant", "constant", "edge", "reflect"))
    most = 2 if mode == "constant" else min(2, *shape)
    if mode == "reflect":
        most = min(most, min(shape) - 1)
    if most < 0 or (mode != "constant" and 0 in shape):
        raise Unfit
    pads = [int(number) for number in d.random.integers(0, most + 1, 2 * len(shape))]
    if d.opset < 11:
        d.add("Pad", [x], pads=pads, mode=mode, **({"value": 0.5} if mode == "constant" else {}))
    else:
        value = [d.constant(np.float32(0.5))] if mode == "constant" else []
        d.add("Pad", [x, d.integers(pads), *value], mode=mode)


def _gather(d: Drawing) -> None:
    x = d.value(least=1)
    axis = d.axis(x)
    extent = d.shapes[x][axis]
    if not extent:
        raise Unfit
    low = 0 if d.opset < 11 else -extent
    indices = d.random.integers(low, extent, d.choice(((), (1,), (3,), (2, 2)))).astype(np.int64)
    d.add("Gather", [x, d.constant(indices)], axis=axis)


def _tile(d: Drawing) -> None:
    x = d.value(least=1)
    d.add("Tile", [x, d.integers([d.choice((1, 1, 2)) for _ in d.shapes[x]])])


def _expand(d: Drawing) -> None:
    if d.opset < 8:
        raise Unfit
    x = d.value()
    d.add("Expand", [x, d.integers([2, *(3 if extent == 1 else extent for extent in d.shapes[x])])])


def _space(d: Drawing) -> None:
    _, c, h, w = d.shapes[x := d.value(rank=4)]
    if d.random.random() < 0.5:
        if c % 4:
            (x,) = d.add("Concat", [x] * 4, axis=1)
        d.add("DepthToSpace", [x], blocksize=2, **({"mode": "CRD"} if d.opset >= 11 and h else {}))
    else:
        if h % 2 or w % 2:
            raise Unfit
        d.add("SpaceToDepth", [x], blocksize=2)


def _upsample(d: Drawing) -> None:
    x = d.value(rank=4)
    scales = np.array([1, 1, d.choice((1, 2, 3)), d.choice((1, 2))], np.float32)
    if d.opset == 7 or d.opset == 8:
        d.add("Upsample", [x], mode="nearest", scales=scales.tolist())
    elif d.opset == 9:
        d.add("Upsample", [x, d.constant(scales)], mode="nearest")
    elif d.opset == 10:
        d.add("Resize", [x, d.constant(scales)], mode="nearest")
    else:
        empty = d.constant(np.zeros(0, np.float32))
        mode = d.choice(("nearest", "linear"))
        how = "asymmetric" if mode == "nearest" else d.choice(("half_pixel", "align_corners", "asymmetric"))
        extra = {"nearest_mode": "floor"} if mode == "nearest" else {}
        d.add("Resize", [x, empty, d.constant(scales)], mode=mode, coordinate_transformation_mode=how, **extra)


def _matmul(d: Drawing) -> None:
    x = d.value(least=1)
    depth = d.shapes[x][-1]
    d.add("MatMul", [x, d.constant(d.floats(d.choice(((depth, 3), (depth,), (2, depth, 2)[:3]))))])


def _gemm(d: Drawing) -> None:
    x = d.value(rank=2)
    turned, transposed = int(d.random.integers(2)), int(d.random.integers(2))
    rows, depth = d.shapes[x][::-1] if turned else d.shapes[x]
    b = (3, depth) if transposed else (depth, 3)
    c = d.choice(((3,), (1,), (rows, 3), (rows, 1)))
    d.add(
        "Gemm",
        [x, d.constant(d.floats(b)), d.constant(d.floats(c))],
        alpha=0.5,
        beta=2.0,
        transA=turned,
        transB=transposed,
    )


def _window(d: Drawing, shape: Sequence[int]) -> dict[str, Any]:
    rank = len(shape) - 2
    kernel = [d.choice((1, 2, 3)) for _ in range(rank)]
    pads = [int(d.random.integers(0, taps)) for taps in (*kernel, *kernel)]
    if any(extent + pads[at] + pads[rank + at] < kernel[at] for at, extent in enumerate(shape[2:])):
        raise Unfit
    return {"kernel_shape": kernel, "strides": [d.choice((1, 2)) for _ in kernel], "pads": pads}


def _image(d: Drawing) -> tuple[str, tuple[int, ...]]:
    x = d.value(rank=d.choice((3, 4)))
    if 0 in d.shapes[x]:
        raise Unfit
    return x, d.shapes[x]


def _conv(d: Drawing) -> None:
    x, shape = _image(d)
    group = shape[1] if d.random.random() < 0.3 else 1
    window = _window(d, shape)
    weights = d.floats((2 * group, shape[1] // group, *window["kernel_shape"]))
    d.add("Conv", [x, d.constant(weights), d.constant(d.floats((2 * group,)))], group=group, **window)


def _conv_transpose(d: Drawing) -> None:
    x, shape = _image(d)
    window = _window(d, shape)
    pads = [0] * len(window["pads"])
    d.add(
        "ConvTranspose", [x, d.constant(d.floats((shape[1], 2, *window["kernel_shape"])))], **{**window, "pads": pads}
    )


def _pool(op: str) -> Draw:
    def draw(d: Drawing) -> None:
        x, shape = _image(d)
        extra = {"count_include_pad": int(d.random.integers(2))} if op == "AveragePool" else {}
        d.add(op, [x], **_window(d, shape), **extra)

    return draw


def _global(d: Drawing) -> None:
    d.add(d.choice(("GlobalAveragePool", "GlobalMaxPool")), [_image(d)[0]])


def _batch_norm(d: Drawing) -> None:
    x, shape = _image(d)
    scale, bias, mean = (d.constant(d.floats((shape[1],))) for _ in range(3))
    d.add("BatchNormalization", [x, scale, bias, mean, d.constant(np.abs(d.floats((shape[1],))) + np.float32(0.5))])


def _instance_norm(d: Drawing) -> None:
    x, shape = _image(d)
    d.add("InstanceNormalization", [x, *(d.constant(d.floats((shape[1],))) for _ in range(2))], epsilon=0.01)


def _layer_norm(d: Drawing) -> None:
    if d.opset < 17:
        raise Unfit
    x = d.value(least=1)
    last = d.shapes[x][-1:]
    d.add("LayerNormalization", [x, d.constant(d.floats(last)), d.constant(d.floats(last))], epsilon=0.01)


def _lrn(d: Drawing) -> None:
    d.add("LRN", [_image(d)[0]], size=3)


def _lp_normalization(d: Drawing) -> None:
    x = d.value(least=1)
    d.add("LpNormalization", [x], axis=d.axis(x) % len(d.shapes[x]), p=d.choice((1, 2)))


def _trilu(d: Drawing) -> None:
    if d.opset < 14:
        raise Unfit
    d.add("Trilu", [d.value(least=2), d.constant(np.int64(d.choice((-1, 0, 1))))], upper=int(d.random.integers(2)))


def _since(first: int, draw: Draw) -> Draw:
    def checked(d: Drawing) -> object:
        if d.opset < first:
            raise Unfit
        return draw(d)

    return checked


DRAWS: Mapping[str, Draw] = {
    **{op: _since(first, _unary(op)) for op, first in UNARY.items()},
    **{op: _since(first, _step(op)) for op, first in STEPS.items()},
    **{op: _since(first, _binary(op)) for op, first in BINARY.items()},
    **{f"Reduce{kind}": _reduce(kind) for kind in REDUCE},
    **{op: _rows(op) for op in ("Softmax", "LogSoftmax")},
    **{op: _pool(op) for op in ("MaxPool", "AveragePool")},
    "Clip": _clip, "Where": _where, "Cast": _cast, "Arg": _arg, "CumSum": _cum_sum, "TopK": _top_k,
    "Transpose": _transpose, "Reshape": _reshape, "Flatten": _flatten, "Unsqueeze": _unsqueeze, "Squeeze": _squeeze,
    "Slice": _slice, "Concat": _concat, "Split": _split, "Pad": _pad, "Gather": _gather, "Tile": _tile,
    "Expand": _expand, "Space": _space, "Upsample": _upsample, "MatMul": _matmul, "Gemm": _gemm, "Conv": _conv,
    "ConvTranspose": _conv_transpose, "Global": _global, "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm, "LayerNormalization": _layer_norm, "LRN": _lrn,
    "LpNormalization": _lp_normalization, "Trilu": _trilu,
}  # fmt: skip
MOVES = {"Transpose", "Reshape", "Flatten", "Unsqueeze", "Squeeze", "Slice", "Concat", "Split", "Gather", "Tile"}


def drawn(seed: int, extents: Sequence[int] = EXTENTS) -> Drawing:
    """The graph of a seed. Shapes are those of onnx's own inference, or of its reference where that knows none."""
    random = np.random.default_rng(seed)
    d = Drawing(random=random, opset=int(random.integers(FIRST, LAST + 1)), extents=extents)
    for name in ("x", "z")[: 1 + int(random.random() < 0.4)]:
        shape = d.shape(int(random.integers(3, 5)) if random.random() < 0.5 else None)
        d.inputs[name] = d.floats(shape)
        d.shapes[name] = shape
        d.raw.add(name)
    wanted, tries = int(random.integers(1, 6)), 0
    while wanted and tries < 60:
        tries += 1
        before, kind = (len(d.nodes), dict(d.constants)), d.choice(sorted(DRAWS))
        try:
            DRAWS[kind](d)
            result = computed(d)
        except Exception:  # whatever a reference says of operands that do not fit: another operator is drawn
            del d.nodes[before[0] :]
            d.constants = before[1]
            continue
        wanted -= 1
        for node in d.nodes[before[0] :]:
            kept = node.op_type in MOVES and all(name in d.raw or name in d.constants for name in node.input)
            d.raw |= set(node.output) if kept else set()
        d.shapes |= {name: array.shape for name, array in result.items() if array.dtype == np.float32}
    return d


def computed(d: Drawing) -> dict[str, Array]:
    """Every value, by onnx's own reference."""
    made = model(d, [name for node in d.nodes for name in node.output], TensorProto.UNDEFINED)
    with np.errstate(all="ignore"):
        results = ReferenceEvaluator(made).run(None, d.inputs)
    names = [value.name for value in made.graph.output]
    arrays = dict(zip(names, map(np.asarray, results), strict=True))
    if any(array.size > 4000 for array in arrays.values()):
        raise Unfit
    return arrays


def model(d: Drawing, outputs: Sequence[str], element: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """The graph with these outputs, whose shapes are left open."""
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in d.inputs.items()]
    ends = [helper.make_tensor_value_info(name, element, None) for name in outputs]
    held = [numpy_helper.from_array(array, name) for name, array in d.constants.items()]
    graph = helper.make_graph(d.nodes, "g", inputs, ends, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", d.opset)], ir_version=8)


def ends_of(d: Drawing) -> list[str]:
    """What no node reads."""
    read = {name for node in d.nodes for name in node.input}
    return [name for node in d.nodes for name in node.output if name not in read and name in d.shapes]
