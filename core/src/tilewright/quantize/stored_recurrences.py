"""Knows how LSTM and GRU of a quantised network are written so that they compute in integers: input, weights, and the
states before the first step dequantised. Ranges come from the samples; onnxruntime's quantiser leaves such layers in
float. Does not know what computes them, nor how good that is.

Weights are int8 with one scale for each gate, values and the hidden state of 8 bits, or of 16, the cell of 16 with a
scale that is a power of two. A hidden state that a layer behind reads as integers is stored as that one reads it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tilewright.quantize.recurrent_ranges import Range, largest_cell, range_of
from tilewright.quantize.static import session

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Recurrent = Literal["int8", "int16"]
_GATES = MappingProxyType({"LSTM": 4, "GRU": 3})
_FUNCTIONS = MappingProxyType({"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh")})
_DOMAIN = "com.microsoft"  # its Q and DQ have 16 bits in every version of the operators
_MOVES = ("Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
_POWERS = (-15, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Names of the layers that are integers now, and of others with the reason why they are not."""

    integers: tuple[str, ...]
    left: Mapping[str, str]


def quantise_recurrent(
    prepared: Path, quantised: Path, samples: Sequence[Mapping[str, Array]], to: Recurrent
) -> Written:
    """Write the quantised network again, its LSTM and GRU as integers; `prepared` is the float one it was made of."""
    import onnx

    model = onnx.load(quantised)
    result = {node.name or node.output[0]: node for node in model.graph.node if node.op_type in (*_GATES, "RNN")}
    held = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    left = {name: reason for name, node in result.items() if (reason := _refused(node, held))}
    taken = {name: node for name, node in result.items() if name not in left}
    if taken:
        floats = {tuple(node.output): node for node in onnx.load(prepared).graph.node}
        seen = _observed(prepared, [floats[tuple(node.output)] for node in taken.values()], samples)
        editor = _Editor(model=model, held=held, to=to)
        for node in taken.values():
            editor.write(node, seen, floats[tuple(node.output)])
        editor.finish()
        onnx.save(model, quantised)
    return Written(integers=tuple(taken), left=left)


def _refused(node: Any, held: Mapping[str, Array]) -> str:
    """Why a layer stays float; "" where it does not."""
    attributes = {each.name: each for each in node.attribute}
    inputs = [*node.input, *("",) * 8]
    if node.op_type == "RNN":
        return "an RNN has no integer form"
    if any(name not in held for name in inputs[1:3]) or (inputs[3] and inputs[3] not in held):
        return "its weights are no constants"
    if inputs[4] or inputs[7]:
        return "lengths of sequences and peepholes have no integer form"
    if any(name in attributes and (attributes[name].f or attributes[name].i) for name in ("clip", "input_forget")):
        return "clip and input_forget have no integer form"
    functions = (
        [text.decode().lower() for text in attributes["activations"].strings] if "activations" in attributes else []
    )
    wanted = [*_FUNCTIONS[node.op_type]] * (held[inputs[1]].shape[0])
    return "" if functions in ([], wanted) else "its activations are not Sigmoid and Tanh"


def _observed(
    prepared: Path, nodes: Sequence[Any], samples: Sequence[Mapping[str, Array]]
) -> Mapping[str, list[Array]]:
    """What the float network computes for inputs, states and results of these layers: by name, for each sample."""
    import onnx

    model = onnx.load(prepared)
    names = dict.fromkeys(name for node in nodes for name in (node.input[0], *[*node.input][5:7], *node.output) if name)
    held = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    inputs = {value.name for value in model.graph.input}
    known = {value.name for value in model.graph.output}
    wanted = [name for name in names if name not in held and name not in inputs]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted if name not in known)
    shown = prepared.with_name("recurrent.onnx")
    onnx.save(model, shown)
    runtime = session(shown)
    runs = [dict(zip(wanted, runtime.run(wanted, dict(sample)), strict=True)) for sample in samples]
    return {
        name: [held[name]]
        if name in held
        else [{**sample, **run}[name] for sample, run in zip(samples, runs, strict=True)]
        for name in names
    }


class _Editor:
    """A network while its recurrent layers are written. Private to one call."""

    def __init__(self, *, model: Any, held: Mapping[str, Array], to: Recurrent) -> None:
        self.graph, self.model, self.held = model.graph, model, held
        self.dtype = np.dtype(to)
        self.taken = {name for node in self.graph.node for name in (*node.input, *node.output)} | set(held)
        self.makers = {name: node for node in self.graph.node for name in node.output}

    def write(self, node: Any, seen: Mapping[str, list[Array]], before: Any) -> None:
        """The layer with integers around it."""
        at = [*self.graph.node].index(node)
        inputs = [*node.input, *("",) * 7][:7]
        results = [name for name in [*before.output][:2] if name]  # all hidden states, and the last one
        hidden = self._read_as(node) or range_of([a for name in results for a in seen[name]], self.dtype)
        made: list[Any] = []
        x = range_of(seen[before.input[0]], self.dtype)
        stored = self._stored(inputs[0])
        inputs[0] = inputs[0] if stored == self.dtype else self._through(made, inputs[0], x, self.dtype)
        weights = [self.held[name] for name in inputs[1:3]]
        cell = largest_cell(before, seen, [*weights, self.held.get(inputs[3])]) if node.op_type == "LSTM" else 0.0
        inputs[1:3] = [self._gates(made, name, _GATES[node.op_type]) for name in inputs[1:3]]
        batch = seen[before.input[0]][0].shape[0 if self._batch_first(node) else 1]
        units, directions = weights[1].shape[2], weights[1].shape[0]
        shape = (batch, directions, units) if self._batch_first(node) else (directions, batch, units)
        ranges = [(5, hidden, self.dtype)]
        if node.op_type == "LSTM":
            ranges.append((6, _cell_range(cell), np.dtype(np.int16)))
        for place, numbers, dtype in ranges:
            inputs[place] = (
                self._through(made, inputs[place], numbers, dtype)
                if inputs[place]
                else self._dequantised(
                    made, np.full(shape, numbers.zero_point, dtype), numbers, f"{node.output[0]}_{place}"
                )
            )
        del node.input[:]
        node.input.extend(inputs[: 7 if node.op_type == "LSTM" else 6])
        for each in reversed(made):
            self.graph.node.insert(at, each)

    def finish(self) -> None:
        """Drop what nothing reads any more, and name the domain."""
        from onnx import helper

        read = {name for node in self.graph.node for name in node.input} | {each.name for each in self.graph.output}
        kept = [each for each in self.graph.initializer if each.name in read]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)
        if all(each.domain != _DOMAIN for each in self.model.opset_import):
            self.model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))

    def _batch_first(self, node: Any) -> bool:
        return any(each.name == "layout" and each.i for each in node.attribute)

    def _stored(self, value: str) -> np.dtype[Any] | None:
        """The type that a value is dequantised from."""
        maker = self.makers.get(value)
        if maker is None or maker.op_type != "DequantizeLinear":
            return None
        zero = self.held.get([*maker.input, "", ""][2])
        return None if zero is None or zero.size != 1 else zero.dtype

    def _read_as(self, node: Any) -> Range | None:
        """How integers behind the layer store its results, where one QuantizeLinear of this type does."""
        for name in [*node.output][:2]:
            reader = self._reader(name) if name else None
            scale, zero = (self.held.get(operand) for operand in [*reader.input, ""][1:3]) if reader else (None, None)
            if scale is not None and zero is not None and zero.dtype == self.dtype and scale.size == 1:
                return Range(scale=float(scale.reshape(())), zero_point=int(zero.reshape(())))
        return None

    def _reader(self, value: str) -> Any:
        """The QuantizeLinear that alone reads a value, behind nodes that only move elements; else None."""
        readers = [each for each in self.graph.node if value in each.input]
        if len(readers) != 1 or readers[0].op_type not in (*_MOVES, "QuantizeLinear"):
            return None
        return readers[0] if readers[0].op_type == "QuantizeLinear" else self._reader(readers[0].output[0])

    def _through(self, made: list[Any], value: str, numbers: Range, dtype: np.dtype[Any]) -> str:
        """A value as such integers, and what they stand for."""
        from onnx import helper

        operands = self._numbers(value, numbers, dtype)
        quantised, result = self._fresh(f"{value}_quantised"), self._fresh(f"{value}_dequantised")
        made.append(helper.make_node("QuantizeLinear", [value, *operands], [quantised], domain=_DOMAIN, name=quantised))
        made.append(helper.make_node("DequantizeLinear", [quantised, *operands], [result], domain=_DOMAIN, name=result))
        return result

    def _dequantised(self, made: list[Any], array: Array, numbers: Range, hint: str) -> str:
        from onnx import helper

        operands = [self._constant(array, hint), *self._numbers(hint, numbers, array.dtype)]
        result = self._fresh(f"{hint}_dequantised")
        made.append(helper.make_node("DequantizeLinear", operands, [result], domain=_DOMAIN, name=result))
        return result

    def _gates(self, made: list[Any], name: str, gates: int) -> str:
        """Weights [D, gates * H, columns] as int8, a scale for each gate: rows of all directions have the same."""
        from onnx import helper

        weights = self.held[name].astype(np.float64)
        rows = weights.shape[1]
        largest = np.abs(weights.reshape(len(weights), gates, -1)).max(axis=(0, 2))
        scales = np.repeat(np.maximum(largest / 127, 2.0**-30), rows // gates).astype(np.float32)
        integers = np.clip(np.rint(weights / scales[None, :, None]), -127, 127).astype(np.int8)
        operands = [
            self._constant(integers, f"{name}_int8"), self._constant(scales, f"{name}_scales"),
            self._constant(np.zeros(rows, np.int8), f"{name}_zeros"),
        ]  # fmt: skip
        result = self._fresh(f"{name}_dequantised")
        made.append(helper.make_node("DequantizeLinear", operands, [result], domain=_DOMAIN, name=result, axis=1))
        return result

    def _numbers(self, hint: str, numbers: Range, dtype: np.dtype[Any]) -> list[str]:
        return [
            self._constant(np.array(numbers.scale, np.float32), f"{hint}_scale"),
            self._constant(np.array(numbers.zero_point, dtype), f"{hint}_zero"),
        ]

    def _constant(self, array: Array, hint: str) -> str:
        from onnx import numpy_helper

        name = self._fresh(hint)
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def _fresh(self, hint: str) -> str:
        name = next(each for each in _names(hint) if each not in self.taken)
        self.taken.add(name)
        return name


def _names(hint: str) -> Iterator[str]:
    yield hint
    count = 1
    while True:
        count += 1
        yield f"{hint}_{count}"


def _cell_range(largest: float) -> Range:
    """16 bits that reach so far, their scale a power of two."""
    power = math.ceil(math.log2(max(largest, 2.0**-30) / 32767))
    return Range(scale=2.0 ** min(max(power, _POWERS[0]), _POWERS[1]), zero_point=0)
