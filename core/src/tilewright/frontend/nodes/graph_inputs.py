"""Knows what graph inputs are before any node is read: constants (`--bind`), weights that are state (`--state`), a
batch of 1 where nobody says otherwise, and dimensions whose number follows from weights. Does not know other dimensions
without a number: those are asked for.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import Diagnostic, Exit, TilewrightError, typed, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.frontend.reading.declarations import declared_text, symbol_of
from tilewright.frontend.reading.file_model import FileGraph, FileNode, FileValue
from tilewright.frontend.reading.names import show
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.graphs.model_formats import KeptState

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_WORDS = {"true": 1, "false": 0}
Dims = tuple[int | str, ...]  # a number, or the name of a symbol
# Operators whose first output has the shape of their first input.
_KEEPS_SHAPE = frozenset(
    {
        "Abs", "BatchNormalization", "Cast", "Clip", "DequantizeLinear", "Dropout", "Elu", "Erf", "Exp", "Gelu",
        "HardSigmoid", "HardSwish", "Identity", "LayerNormalization", "LeakyRelu", "Neg", "QuantizeLinear", "Relu",
        "Round", "Selu", "Sigmoid", "Softmax", "Softplus", "Tanh",
    }
)  # fmt: skip
# Operator -> the inputs that hold data and weights.
_CONVOLUTIONS = {"Conv": (0, 1), "ConvInteger": (0, 1), "QLinearConv": (0, 3)}
_PRODUCTS = {"MatMul": (0, 1), "MatMulInteger": (0, 1), "QLinearMatMul": (0, 3)}


def bound_values(inputs: Sequence[Tensor], bindings: Mapping[str, str]) -> dict[str, Array]:
    """The inputs that are bound: a number, which every element gets, or the array of a file NAME.npy.

    TilewrightError TW1226 (exit 2) for a name that is no input, and for a value that does not fit.
    """
    known = {tensor.name: tensor for tensor in inputs}
    for name, text in bindings.items():
        if name not in known:
            raise usage_error(
                "TW1226",
                f"--bind {name}={text} names no input of the model",
                details=(*did_you_mean(name, known), f"it has: {', '.join(known)}"),
                fix=("remove or correct that --bind",),
            )
    return {name: _value(known[name], text) for name, text in bindings.items()}


def kept_weights(
    states: Sequence[str], outputs: Collection[str], constants: dict[str, Array], tensors: Collection[str]
) -> tuple[KeptState, ...]:
    """Initialisers that `--state OUTPUT:NAME` names: they leave the `constants`, as inputs that begin with their
    elements.
    """
    result: list[KeptState] = []
    for text in states:
        pairs = ((output, text.removeprefix(f"{output}:")) for output in outputs if text.startswith(f"{output}:"))
        for output, rest in pairs:
            name = next(
                (each for each in (rest, rest.rpartition("=")[0]) if each in constants and each in tensors), None
            )
            if name is not None:
                result.append(KeptState(output=output, input=name, initial=constants.pop(name)))
                break
    return tuple(result)


def _value(tensor: Tensor, text: str) -> Array:
    if text.endswith(".npy"):
        return _from_file(tensor, text)
    import numpy as np

    try:
        number = _WORDS.get(text) if text in _WORDS else float(text) if tensor.dtype.is_float else int(text)
        return np.full(tensor.shape, number, tensor.dtype.numpy)
    except (ValueError, OverflowError):
        raise _mismatch(tensor, text, f"'{text}' is no {tensor.dtype.value}") from None


def _from_file(tensor: Tensor, text: str) -> Array:
    import numpy as np

    try:
        array = np.load(Path(text), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _mismatch(tensor, text, f"{text} cannot be read: {error}") from None
    if array.dtype != tensor.dtype.numpy or array.size != tensor.elements:
        raise _mismatch(tensor, text, f"{text} holds {array.dtype}{list(array.shape)}")
    return np.asarray(array.reshape(tensor.shape))


def _mismatch(tensor: Tensor, text: str, reason: str) -> TilewrightError:
    return usage_error(
        "TW1226",
        f"--bind {tensor.name}={text} does not fit the input",
        details=(reason, f"'{tensor.name}' is {tensor.dtype.value}{list(tensor.shape)}"),
        fix=(typed("--bind", f"{tensor.name}=1", gives="a number for every element, or a file .npy"),),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A symbol that is taken to be 1, and the first input that has it in front."""

    symbol: str
    value: FileValue

    @property
    def note(self) -> Diagnostic:
        """The note that the batch is taken to be 1."""
        return Diagnostic(
            code="TW1229",
            severity="note",
            message=f"{show(self.symbol)}, the first dimension of the inputs, has no number in the file: it is 1",
            where=f"input {show(self.value.name)} {declared_text(self.value)}",
            details=(self._otherwise,),
            fix=(typed("--dim", f"{self.symbol}=1", gives="says so: then there is no note"),),
        )

    def named_in(self, error: TilewrightError) -> TilewrightError:
        """An error about the model, with a line about the batch of 1, which may be the cause."""
        if error.exit_code is not Exit.MODEL:
            return error
        taken = f"{show(self.symbol)}, the first dimension of the inputs, is taken to be 1: {self._otherwise}"
        return replace(error, details=(*error.details, taken))

    @property
    def _otherwise(self) -> str:
        return f"{shlex.join(['--dim', f'{self.symbol}=NUMBER'])} makes it another"


def assumed_batch(inputs: Sequence[FileValue], dims: Mapping[str, int]) -> Batch | None:
    """The batch of a network, unless `dims` has a number for it: the one symbol that the inputs without a number in
    front have there. None where they have several, or an input has that symbol on two axes, as no batch is.
    """
    first: dict[str, FileValue] = {}  # symbol in front -> the first input that has it there
    twice: set[str] = set()
    for value in inputs:
        axes = [axis for axis, dim in enumerate(value.dims or ()) if not isinstance(dim, int)]
        symbols = Counter(symbol_of(value, axis) for axis in axes)
        twice.update(symbol for symbol, count in symbols.items() if count > 1)
        if 0 in axes:
            first.setdefault(symbol_of(value, 0), value)
    if len(first) != 1:
        return None
    ((symbol, value),) = first.items()
    return None if symbol in twice or symbol in dims else Batch(symbol=symbol, value=value)


def with_places_named(graph: FileGraph, dims: Mapping[str, int]) -> tuple[FileGraph, dict[str, int]]:
    """The graph and the dims where INPUT[AXIS] stands for what that axis has: the symbol there gets the number, and a
    number there becomes another.

    TilewrightError TW1219 (exit 2) for a number below 0, and where a symbol would get two.
    """
    named, numbers = dict(dims), dict[str, dict[int, int]]()
    symbols = {dim for value in graph.inputs for dim in value.dims or () if isinstance(dim, str)}
    for value in graph.inputs:
        for axis, dim in enumerate(value.dims or ()):
            place = f"{value.name}[{axis}]"
            if place not in dims or place in symbols or dim is None:
                continue
            number = named.pop(place)
            if number < 0 or (isinstance(dim, str) and named.get(dim, number) != number):
                said = "is negative" if number < 0 else f"is {show(str(dim))}, which --dim makes {named[str(dim)]}"
                raise usage_error(
                    "TW1219", f"--dim {place}={number} {said}", fix=(typed("--dim", f"{place}={max(1, number)}"),)
                )
            if isinstance(dim, str):
                named[dim] = number
            else:
                numbers.setdefault(value.name, {})[axis] = number
    return replace(
        graph, inputs=tuple(_renumbered(value, numbers.get(value.name, {})) for value in graph.inputs)
    ), named


def _renumbered(value: FileValue, numbers: Mapping[int, int]) -> FileValue:
    if not numbers:
        return value
    return replace(value, dims=tuple(numbers.get(axis, dim) for axis, dim in enumerate(value.dims or ())))


def dims_of_weights(graph: FileGraph) -> dict[str, int]:
    """Symbol -> extent, for symbols of graph inputs that must equal an extent of a weight."""
    known: dict[str, Dims] = {
        value.name: tuple(
            dim if isinstance(dim, int) else symbol_of(value, axis) for axis, dim in enumerate(value.dims)
        )
        for value in graph.inputs
        if value.dims is not None
    }
    known.update({tensor.name: tensor.dims for tensor in graph.initializers})
    extents: dict[str, int] = {}
    for node in graph.nodes:
        for dim, extent in _equal_dims(node, known):
            if isinstance(dim, str) and isinstance(extent, int):
                extents.setdefault(dim, extent)
        source = _shape_of(node, 0, known)
        if not source or not node.outputs:
            continue
        if node.op_type in _KEEPS_SHAPE:
            known.setdefault(node.outputs[0], source)
        elif node.op_type == "Transpose":
            known.setdefault(node.outputs[0], _transposed(node, source))
    return extents


def _equal_dims(node: FileNode, known: Mapping[str, Dims]) -> Iterator[tuple[int | str, int | str]]:
    """Pairs (dimension of data, dimension of weights) that must be equal."""
    attributes = {attribute.name: attribute.value for attribute in node.attributes}
    if node.op_type in _CONVOLUTIONS:
        data, weights = (_shape_of(node, index, known) for index in _CONVOLUTIONS[node.op_type])
        groups = attributes.get("group", 1)
        if len(data) > 1 and len(weights) > 1 and isinstance(weights[1], int) and isinstance(groups, int):
            yield data[1], weights[1] * groups
    elif node.op_type in _PRODUCTS:
        data, weights = (_shape_of(node, index, known) for index in _PRODUCTS[node.op_type])
        if data and len(weights) == 2:
            yield data[-1], weights[0]
    elif node.op_type == "Gemm":
        data, weights = _shape_of(node, 0, known), _shape_of(node, 1, known)
        if len(data) == len(weights) == 2:
            yield data[0 if attributes.get("transA") else 1], weights[1 if attributes.get("transB") else 0]
    elif node.op_type == "BatchNormalization":
        data, scale = _shape_of(node, 0, known), _shape_of(node, 1, known)
        if len(data) > 1 and len(scale) == 1:
            yield data[1], scale[0]


def _shape_of(node: FileNode, index: int, known: Mapping[str, Dims]) -> Dims:
    return known.get(node.inputs[index], ()) if index < len(node.inputs) else ()


def _transposed(node: FileNode, dims: Dims) -> Dims:
    order = next((each.value for each in node.attributes if each.name == "perm"), tuple(reversed(range(len(dims)))))
    if not isinstance(order, tuple) or sorted(order) != list(range(len(dims))):
        return ()
    return tuple(dims[axis] for axis in order)
