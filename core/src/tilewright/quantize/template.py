"""Knows a quantised network of which bits are chosen: from onnxruntime's int8 file and the float network that it was
made of, the same layers with 16 bits for some values and 4 for some weights. Does not know which are worth it.

Values of 16 bits are symmetric, over the range that the int8 file found. Weights of 4 bits have a scale where the int8
file has one: of some, that with the smallest squared error. A bias behind either counts in the steps of its
accumulator, as in the int8 file, and takes back what weights of 4 bits shift results by; where it does not fit 32 bits,
it is the float one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.quantize.bias_correction import input_means, shift_of
from tilewright.quantize.bits import Bits, Choice

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Floats = npt.NDArray[np.float32]
    Doubles = npt.NDArray[np.float64]

PRODUCTS = frozenset(("Conv", "ConvTranspose", "Gemm", "MatMul"))  # their second input may have 4 bits
_CLIPS = frozenset(("Relu", "Clip"))  # onnxruntime leaves them out where int8 saturates as they do
_LARGEST_WORD, _LARGEST_NIBBLE, _LARGEST_BIAS = 32767, 7, 2**31 - 1
_SHRUNK = tuple(1 - step / 20 for step in range(11))  # of the largest weight: what the largest nibble stands for


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The int8 network, and what of the float one is needed beside it."""

    model: Any  # onnx.ModelProto, never changed
    floats: Mapping[str, Floats] = field(repr=False)  # constants of the float network
    clips: Mapping[str, Any] = field(repr=False)  # Relu and Clip of the float network, by what they write
    choices: tuple[Choice, ...]
    scales: Mapping[str, str]  # of each choice, the constant that is its scale
    means: Mapping[str, Doubles] = field(default_factory=dict, repr=False)  # by layer, of each channel that it reads

    def written(self, bits: Bits) -> bytes:
        """The network with these bits, as a file."""
        if not bits.wide and not bits.narrow:
            return bytes(self.model.SerializeToString())
        return _Draft.of(self, bits).written()


def template(prepared: Path, quantised: Path, samples: Sequence[Mapping[str, Array]] = ()) -> Template:
    """Of the float network as it was prepared, and the int8 one that onnxruntime made of it. With samples, biases take
    back what weights of 4 bits shift results by.
    """
    import onnx
    from onnx import numpy_helper

    model, before = onnx.load(quantised), onnx.load(prepared)
    floats = {
        constant.name: numpy_helper.to_array(constant)
        for constant in before.graph.initializer
        if constant.data_type == onnx.TensorProto.FLOAT
    }
    result = tuple(_choices(model, floats))
    return Template(
        model=model,
        floats=floats,
        clips={node.output[0]: node for node in before.graph.node if node.op_type in _CLIPS},
        choices=tuple(choice for choice, _ in result),
        scales={choice.name: scale for choice, scale in result},
        means=input_means(prepared, samples) if samples else {},
    )


def float_name(stored: str) -> str:
    """What the float network calls the constant that onnxruntime has stored under this name."""
    return stored.removesuffix("_quantized")


def _choices(model: Any, floats: Mapping[str, Floats]) -> Iterator[tuple[Choice, str]]:
    """Each with the constant that is its scale, in the order of the network."""
    constants = {constant.name for constant in model.graph.initializer}
    writers = {value: node for node in model.graph.node for value in node.output}
    scales: set[str] = set()
    for node in model.graph.node:
        if node.op_type == "QuantizeLinear" and node.input[1] not in scales:
            scales.add(node.input[1])
            writer = writers.get(node.input[0])
            layer = writer.name if writer is not None else ""
            yield Choice(kind="value", name=_written(node.input[0]), layer=layer), node.input[1]
        if node.op_type in PRODUCTS and node.input[1] in writers:
            weights = writers[node.input[1]]
            name = float_name(weights.input[0])
            if weights.input[0] in constants and name in floats and weights.input[1] not in scales:
                scales.add(weights.input[1])
                yield Choice(kind="weights", name=name, layer=node.name), weights.input[1]


def _written(value: str) -> str:
    return value.removesuffix("_QuantizeLinear_Input")


@dataclass(slots=True)
class _Draft:
    """A network being changed; the template is not."""

    template: Template
    bits: Bits
    model: Any
    constants: dict[str, Any]
    wide: frozenset[str]  # scales of values with 16 bits
    narrow: frozenset[str]  # scales of weights with 4 bits

    @classmethod
    def of(cls, source: Template, bits: Bits) -> _Draft:
        import onnx

        model = onnx.ModelProto()
        model.CopyFrom(source.model)
        return cls(
            template=source,
            bits=bits,
            model=model,
            constants={constant.name: constant for constant in model.graph.initializer},
            wide=frozenset(scale for name, scale in source.scales.items() if name in bits.wide),
            narrow=frozenset(scale for name, scale in source.scales.items() if name in bits.narrow),
        )

    def written(self) -> bytes:
        nodes = list(self.model.graph.node)
        writers = {value: node for node in nodes for value in node.output}
        self._widen_constants(nodes, writers)
        self._widen(nodes)
        for node in nodes:
            if node.op_type == "DequantizeLinear" and node.input[1] in self.narrow:
                self._as_nibbles(node)
        float_biases = {node.name for node in nodes if not self._bias_fits(node, writers)}
        del self.model.graph.node[:]
        self.model.graph.node.extend(self._clipped(list(self._with_float_biases(nodes, float_biases))))
        used = {value for node in self.model.graph.node for value in node.input}
        unused = [constant for constant in self.model.graph.initializer if constant.name not in used]
        for constant in unused:
            self.model.graph.initializer.remove(constant)
        return bytes(self.model.SerializeToString())

    def _widen(self, nodes: list[Any]) -> None:
        """Scale and zero point of every value with 16 bits."""
        done: set[str] = set()
        for node in nodes:
            if node.op_type != "QuantizeLinear" or node.input[1] not in self.wide or node.input[1] in done:
                continue
            done.add(node.input[1])
            scale, zero = (self._array(name) for name in node.input[1:3])
            limits = np.iinfo(zero.dtype)
            reach = max(limits.max - int(zero), int(zero) - limits.min) * np.float64(scale)
            self._store(node.input[1], np.asarray(reach / _LARGEST_WORD, np.float32))
            self._store(node.input[2], np.asarray(0, np.int16))

    def _widen_constants(self, nodes: list[Any], writers: Mapping[str, Any]) -> None:
        """Constants that are operands of what gives 16 bits, and no weights: 16 bits, too."""
        wide = {node.input[0] for node in nodes if node.op_type == "QuantizeLinear" and node.input[1] in self.wide}
        for node in nodes:
            if node.op_type in PRODUCTS or not wide.intersection(node.output):
                continue
            for made in (writers[value] for value in node.input if value in writers):
                if made.op_type != "DequantizeLinear" or made.input[0] not in self.constants:
                    continue
                array = self.template.floats.get(float_name(made.input[0]))
                if array is not None and self._array(made.input[0]).dtype.itemsize == 1:
                    self._as_words(made, array)

    def _as_words(self, node: Any, array: Floats) -> None:
        """A constant with one scale and 16 bits."""
        scale = np.float32(max(float(np.max(np.abs(array), initial=0.0)), 1e-30) / _LARGEST_WORD)
        stored = np.clip(np.rint(array / scale), -_LARGEST_WORD, _LARGEST_WORD).astype(np.int16)
        self._store(node.input[0], stored)
        self._store(node.input[1], np.asarray(scale))
        self._store(node.input[2], np.asarray(0, np.int16))
        del node.attribute[:]

    def _bias_fits(self, node: Any, writers: Mapping[str, Any]) -> bool:
        """Whether the bias of a layer whose bits have changed, now in steps of its accumulator, fits 32 bits; True of
        every other node.
        """
        if node.op_type not in PRODUCTS or len(node.input) < 3:
            return True
        x, w, bias = (writers.get(value) for value in node.input[:3])
        scales = [_scale_of(x), _scale_of(w)]
        if bias is None:
            return True
        real = self.template.floats.get(float_name(bias.input[0]))
        if real is None or "" in scales or not (self.wide | self.narrow).intersection(scales):
            return True
        product = self._array(scales[0]) * self._array(scales[1])
        shift: Doubles | float = 0.0
        if scales[1] in self.narrow and node.name in self.template.means:
            shift = shift_of(node, self._error_of(w), self.template.means[node.name])
        steps = np.rint((real + shift) / product.astype(np.float64).reshape(-1))
        if np.max(np.abs(steps), initial=0.0) > _LARGEST_BIAS:
            return False
        self._store(bias.input[0], steps.astype(np.int32))
        self._store(bias.input[1], np.broadcast_to(product.reshape(-1), real.shape).astype(np.float32))
        self._store(bias.input[2], np.zeros(real.shape, np.int32))
        return True

    def _error_of(self, node: Any) -> Doubles:
        """The float weights, less those that this DequantizeLinear makes of 4 bits."""
        array = self.template.floats[float_name(node.input[0])]
        scale = self._array(node.input[1])
        along = [1] * array.ndim
        if scale.ndim:
            along[_axis_of(node)] = -1
        stored = self._array(node.input[0]).astype(np.float64)
        return np.asarray(array - stored * scale.reshape(along))

    def _with_float_biases(self, nodes: list[Any], layers: set[str]) -> Iterator[Any]:
        """The nodes, without those that make a bias of these layers, which is the float constant then."""
        from onnx import numpy_helper

        made = {node.input[2] for node in nodes if node.name in layers}
        for node in nodes:
            if node.output[0] not in made:
                yield node
                continue
            array = self.template.floats[float_name(node.input[0])]
            self.model.graph.initializer.append(numpy_helper.from_array(array, node.output[0]))

    def _as_nibbles(self, node: Any) -> None:
        import ml_dtypes

        axis = _axis_of(node)
        old = self._array(node.input[1])
        array = self.template.floats[float_name(node.input[0])]
        scale, stored = nibbles(array, axis if old.ndim else None, old)
        self._store(node.input[0], stored.astype(ml_dtypes.int4))
        self._store(node.input[1], scale)
        del node.input[2:]  # symmetric: 0

    def _clipped(self, nodes: list[Any]) -> Iterator[Any]:
        """The nodes, and the clips that int8 does by saturating before what has 16 bits now."""
        before = {
            node.input[0]: self.template.clips[node.input[0]]
            for node in nodes
            if node.op_type == "QuantizeLinear" and node.input[1] in self.wide and node.input[0] in self.template.clips
        }
        for node in nodes:
            again = [at for at, value in enumerate(node.output) if value in before and node.op_type not in _CLIPS]
            clips = [before[node.output[at]] for at in again]
            for at in again:
                node.output[at] += "_unclipped"
            yield node
            for at, clip in zip(again, clips, strict=True):
                yield self._clip_behind(clip, node.output[at])

    def _clip_behind(self, clip: Any, value: str) -> Any:
        """`clip` of the float network, reading `value`; its limits come along."""
        import onnx
        from onnx import numpy_helper

        made = onnx.NodeProto()
        made.CopyFrom(clip)
        made.input[0] = value
        for name in made.input[1:]:
            if name and name not in self.constants:
                limit = numpy_helper.from_array(self.template.floats[name], name)
                self.model.graph.initializer.append(limit)
                self.constants[name] = limit
        return made

    def _array(self, name: str) -> Array:
        from onnx import numpy_helper

        array: Array = numpy_helper.to_array(self.constants[name])
        return array

    def _store(self, name: str, array: Array) -> None:
        from onnx import numpy_helper

        self.constants[name].CopyFrom(numpy_helper.from_array(array, name))


def _axis_of(node: Any) -> int:
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == "axis"), 1)


def _scale_of(node: Any) -> str:
    """The scale of what a node dequantises; "" of any other, or None."""
    return str(node.input[1]) if node is not None and node.op_type == "DequantizeLinear" else ""


def nibbles(array: Floats, axis: int | None, least: Floats) -> tuple[Floats, npt.NDArray[np.int8]]:
    """Scale (one, or one for each index of `axis`, at least `least`) and integers -8 to 7, of some those with the
    smallest squared error. A channel of zeros has a scale, too: its bias counts in it.
    """
    others = tuple(at for at in range(array.ndim) if axis is None or at != axis % array.ndim)
    largest = np.max(np.abs(array), axis=others, keepdims=True, initial=0.0).astype(np.float32)
    least = np.broadcast_to(least.reshape(largest.shape if least.ndim else ()), largest.shape)
    best = np.full(largest.shape, np.inf)
    scale = least
    for shrunk in _SHRUNK:
        tried = np.maximum(largest * np.float32(shrunk / _LARGEST_NIBBLE), least).astype(np.float32)
        apart = np.sum((_stored(array, tried) * tried - array).astype(np.float64) ** 2, axis=others, keepdims=True)
        scale = np.where(apart < best, tried, scale)
        best = np.minimum(best, apart)
    return scale.reshape(-1 if axis is not None else ()), _stored(array, scale).astype(np.int8)


def _stored(array: Floats, scale: Floats) -> Floats:
    stored: Floats = np.clip(np.rint(array / scale), -_LARGEST_NIBBLE - 1, _LARGEST_NIBBLE)
    return stored
