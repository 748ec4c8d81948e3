"""Knows spectra as products with constant matrices: DFT, STFT, MelWeightMatrix.
Does not know fast transforms: a transform of n takes n products for each frequency, and a matrix of them.

Source: the definitions in ONNX's operator documentation; versions are those that changed a signature.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, DType

Doubles = npt.NDArray[np.float64]

_AXIS_INPUT = 20  # the operator set that made the axis of a DFT an input
_MEL, _HERTZ = 2595.0, 700.0  # mel(f) = 2595 log10(1 + f / 700)


def _scalar(node: OnnxNode, graph: Conversion, index: int, default: int) -> int:
    """An input of one element that is known; the default where it is absent."""
    if index >= len(node.inputs) or not node.inputs[index]:
        return default
    return int(graph.need_constant(node, index).reshape(-1)[0])


def _need_signal(node: OnnxNode, graph: Conversion) -> tuple[int, ...]:
    """The shape of input 0: floats, whose last axis holds a real part, or also an imaginary one."""
    signal = graph.tensor(node.inputs[0])
    if signal.dtype is not DType.F32 or len(signal.shape) < 2 or signal.shape[-1] not in (1, 2):
        raise graph.refuse(
            node, f"its input is {signal.dtype.value}{list(signal.shape)}; f32 [..., 1 or 2] is supported"
        )
    return signal.shape


def transform(inputs: int, parts: int, length: int, *, inverse: bool, onesided: bool) -> Doubles:
    """[inputs, parts, frequencies, 2 or 1]: what each element adds to each result, as real and imaginary parts.

    `parts` is 1 for real elements, 2 for complex ones. An inverse that is `onesided` has the first half of a spectrum,
    whose other half is its mirror, and real results.
    """
    results = length if inverse or not onesided else length // 2 + 1
    used = np.arange(inputs)[:, None] < (length // 2 + 1 if inverse and onesided else length)
    angle = 2 * np.pi / length * (np.arange(inputs)[:, None] * np.arange(results) % length)
    cosine, sine = used * np.cos(angle), used * np.sin(angle) * (1 if inverse else -1)
    matrix = np.empty((inputs, 2, results, 2))
    matrix[:, 0, :, 0], matrix[:, 0, :, 1] = cosine, sine
    matrix[:, 1, :, 0], matrix[:, 1, :, 1] = -sine, cosine
    if inverse:
        matrix /= length
    if inverse and onesided:
        alone = np.isin(np.arange(inputs), [0, length / 2])  # these are their own mirrors
        matrix = np.where(alone, 1, 2)[:, None, None, None] * matrix[..., :1]
    return matrix[:, :parts]


def _dft(node: OnnxNode, graph: Conversion) -> None:
    shape = _need_signal(node, graph)
    axis = _scalar(node, graph, 2, -2) if node.version >= _AXIS_INPUT else node.integer("axis", 1)
    rank, inverse, onesided = len(shape), bool(node.integer("inverse")), bool(node.integer("onesided"))
    if not -rank <= axis < rank or axis % rank == rank - 1:
        raise graph.refuse(node, f"axis {axis} is no axis of the signal {list(shape)}")
    axis %= rank
    length = _scalar(node, graph, 1, 2 * (shape[axis] - 1) if inverse and onesided else shape[axis])
    if length < 1 or (onesided and not inverse and shape[-1] == 2):
        raise graph.refuse(node, f"dft_length is {length}, or one side of a complex signal is asked for")
    results = length if inverse or not onesided else length // 2 + 1
    parts = 1 if inverse and onesided else 2
    need_room(node, graph, 2 * shape[axis] * results * parts)
    matrix = transform(shape[axis], shape[-1], length, inverse=inverse, onesided=onesided)
    order = (*(at for at in range(rank - 1) if at != axis), axis, rank - 1)
    moved = _transposed(node, graph, node.inputs[0], order)
    lead = tuple(shape[at] for at in order[:-2])
    rows = graph.emit(node, "Reshape", (moved,), (), {"shape": (math.prod(lead), shape[axis] * shape[-1])}, "rows")
    weights = graph.add_constant(matrix.reshape(shape[axis] * shape[-1], -1).astype(np.float32), "transform")
    product = graph.apply(node, "MatMul", 13, (rows, weights), hint="product")
    apart = graph.emit(node, "Reshape", (product,), (), {"shape": (*lead, results, parts)}, "apart")
    back = tuple(int(at) for at in np.argsort(order))
    graph.rename(node, _transposed(node, graph, apart, back))


def _transposed(node: OnnxNode, graph: Conversion, name: str, order: tuple[int, ...]) -> str:
    if order == tuple(range(len(order))):
        return name
    return graph.emit(node, "Transpose", (name,), (), {"perm": order}, "moved")


def _stft(node: OnnxNode, graph: Conversion) -> None:
    """A convolution over the signal, each frequency's real and imaginary part a channel."""
    shape = _need_signal(node, graph)
    if len(shape) != 3:
        raise graph.refuse(node, f"its signal is {list(shape)}; [batch, length, 1 or 2] is supported")
    batch, samples, parts = shape
    window = node.inputs[2] if len(node.inputs) > 2 else ""
    length = _scalar(node, graph, 3, graph.tensor(window).elements if window else samples)
    step, onesided = _scalar(node, graph, 1, 1), bool(node.integer("onesided", 1))
    if step < 1 or not 1 <= length <= samples or (window and graph.tensor(window).shape != (length,)):
        raise graph.refuse(node, f"frames of {length} in steps of {step} do not fit {samples} samples and the window")
    if onesided and parts == 2:
        raise graph.refuse(node, "one side of a complex signal is asked for")
    bins = length // 2 + 1 if onesided else length
    need_room(node, graph, 4 * bins * length)
    matrix = transform(length, parts, length, inverse=False, onesided=onesided)
    kernel = matrix.transpose(2, 3, 1, 0).reshape(2 * bins, parts, length).astype(np.float32)
    known = graph.constant(window) if window else np.ones(length, np.float32)
    weights = graph.add_constant(kernel if known is None else np.multiply(kernel, known), "frequencies")
    if known is None:
        weights = graph.emit(node, "Mul", (weights, window), hint="windowed")
    signal = _transposed(node, graph, node.inputs[0], (0, 2, 1))
    along = {"kernel_shape": (length,), "strides": (step,)}
    spectrum = graph.apply(node, "Conv", 11, (signal, weights), (), along, "spectrum")
    moved = graph.emit(node, "Transpose", (spectrum,), (), {"perm": (0, 2, 1)}, "frames")
    frames = 1 + (samples - length) // step
    graph.emit(node, "Reshape", (moved,), node.outputs, {"shape": (batch, frames, bins, 2)})


def _mel_weights(node: OnnxNode, graph: Conversion) -> None:
    """Triangles over the bins of a spectrum, whose corners are equally far apart on the mel scale."""
    parameters = [graph.need_constant(node, index).reshape(-1)[0].item() for index in range(5)]
    bands, length, rate, low, high = parameters
    number = node.integer("output_datatype", 1)
    target = ELEMENT_TYPES.get(number)
    if target is None or bands < 1 or length < 2 or rate <= 0 or not 0 <= low < high <= rate / 2:
        raise graph.refuse(node, f"parameters {parameters} and type {number} make no such matrix")
    need_room(node, graph, (length // 2 + 1) * bands)
    mel_range = _MEL * np.log10(1 + np.array([low, high]) / _HERTZ)
    mels = mel_range[0] + np.arange(bands + 2) * (mel_range[1] - mel_range[0]) / (bands + 2)
    corners = np.floor((length + 1) * _HERTZ * (10 ** (mels / _MEL) - 1) / rate).astype(np.int64)
    bins = np.arange(length // 2 + 1)[:, None]
    left, middle, right = corners[:-2], corners[1:-1], corners[2:]
    rise = np.where(bins == middle, 1.0, (bins - left) / np.maximum(middle - left, 1))
    fall = (right - bins) / np.maximum(right - middle, 1)
    inside = np.where((left <= bins) & (bins <= middle), rise, np.where((middle < bins) & (bins < right), fall, 0.0))
    graph.rename(node, graph.add_constant(inside.astype(target.numpy), node.outputs[0]))


_SIDES = {"inverse": "INT", "onesided": "INT"}
_dft_import = partial(Import, op_type="DFT", convert=_dft)

IMPORTS = (
    _dft_import(since=17, attributes={**_SIDES, "axis": "INT"}, max_inputs=2),
    _dft_import(since=20, attributes=_SIDES, max_inputs=3),
    Import(op_type="STFT", since=17, attributes={"onesided": "INT"}, convert=_stft, min_inputs=2, max_inputs=4),
    Import(
        op_type="MelWeightMatrix",
        since=17,
        attributes={"output_datatype": "INT"},
        convert=_mel_weights,
        min_inputs=5,
        max_inputs=5,
    ),
)
