"""Knows the model that is being written: its values with types and ranges, its constants, its nodes.
Does not know what nodes of the file mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilewright.api.graph import DType
from tilewright_integer_dialect.file_nodes import FileNode, OddNode
from tilewright_integer_dialect.values import BYTES, Range, Value, range_in, range_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

DOMAIN = "tilewright.integer"  # of the operators that this package brings
OPSET = 18
ONNX_TYPES: Mapping[DType, int] = MappingProxyType(
    {DType.U8: 2, DType.I8: 3, DType.U16: 4, DType.I16: 5, DType.I32: 6, DType.I64: 7, DType.BOOL: 9}
)  # numbers of TensorProto.DataType
NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})


class Writing:
    """A model under construction. Mutable, and private to one translation."""

    def __init__(self, graph: Any) -> None:
        self.nodes: list[Any] = []
        self.wide: list[str] = []  # nodes whose results may wrap around, and what they may be
        self.initializers: list[Any] = []
        self.values: dict[str, Value] = {}
        self.constants: dict[str, Array] = file_constants(graph)
        self._shapes = declared_shapes(graph)
        self._written: dict[tuple[str, DType], Value] = {}  # what a value is in another type
        self._names = {name for node in graph.node for name in (*node.input, *node.output)} | set(self.constants)

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape that the file declares, where it is all numbers."""
        return self._shapes.get(name)

    def has(self, name: str) -> bool:
        """Whether a value of the file is known by now."""
        return name in self.values or name in self.constants

    def define(self, name: str, value: Value) -> None:
        """What a value of the file is."""
        self.values[name] = value

    def value(self, node: FileNode, index: int) -> Value:
        """An input as whole numbers. OddNode where it is absent or has fractions."""
        name = node.inputs[index] if index < len(node.inputs) else ""
        if not name:
            raise OddNode(f"input {index} is missing")
        if name not in self.values:
            array = _whole(self.constants[name], name)
            result = range_in(array)
            self.values[name] = self._constant(name, array, result.dtype)
        return self.values[name]

    def parameter(self, node: FileNode, index: int) -> tuple[int, ...] | None:
        """An input that must be known, such as axes; None where it is absent."""
        name = node.inputs[index] if index < len(node.inputs) else ""
        if not name:
            return None
        if name not in self.constants:
            raise OddNode(f"input {index} ({name}) must be a constant")
        return tuple(int(number) for number in _whole(self.constants[name], name).reshape(-1))

    def constant(self, array: Any, dtype: DType, hint: str) -> Value:
        """A new constant."""
        import numpy as np

        return self._constant(self.fresh(hint), np.asarray(array, np.int64), dtype)

    def bytes_of(self, value: Value) -> Value:
        """The value in 8 bits. OddNode where it may need more."""
        if value.dtype in BYTES:
            return value
        if value.range.dtype not in BYTES:
            raise OddNode(f"'{value.name}' holds {value.range.low} to {value.range.high}, more than 8 bits")
        return self.in_type(value, value.range.dtype)

    def in_type(self, value: Value, dtype: DType) -> Value:
        """The value in another type, which holds its range."""
        if value.dtype is dtype:
            return value
        key = value.name, dtype
        if key not in self._written:
            if value.array is not None:
                self._written[key] = self._constant(self.fresh(f"{value.name}_{dtype.value}"), value.array, dtype)
            else:
                name = self.fresh(f"{value.name}_{dtype.value}")
                self._node("Cast", (value.name,), name, {"to": ONNX_TYPES[dtype]}, "", name)
                self._written[key] = Value(name=name, dtype=dtype, range=value.range, shape=value.shape)
        return self._written[key]

    def emit(
        self,
        node: FileNode,
        op: str,
        inputs: Sequence[Value],
        dtype: DType,
        result: Range,
        attributes: Mapping[str, Any] = NO_ATTRIBUTES,
        *,
        hint: str = "",
        own: bool = False,
    ) -> Value:
        """Write a node; without `hint` its result is the first output of `node`. `own`: an operator of this package.

        A result that may leave `dtype` is noted in `wide`; it wraps around.
        """
        if not result.fits(dtype):
            self.wide.append(f"{node.label}: {result.low:,} to {result.high:,}")
            result = range_of(dtype)
        name = self.fresh(f"{node.outputs[0]}_{hint}") if hint else node.outputs[0]
        names = [value.name for value in inputs]
        self._node(op, names, name, attributes, DOMAIN if own else "", f"{node.name}/{hint}" if hint else node.name)
        value = Value(name=name, dtype=dtype, range=result, shape=None if hint else self.shape(name))
        if not hint:
            self.define(name, value)
        return value

    def fresh(self, hint: str) -> str:
        """A name that nothing has."""
        name, count = hint, 1
        while name in self._names:
            count += 1
            name = f"{hint}_{count}"
        self._names.add(name)
        return name

    def _node(
        self, op: str, inputs: Sequence[str], output: str, attributes: Mapping[str, Any], domain: str, name: str
    ) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(op, list(inputs), [output], name=name, domain=domain, **attributes))

    def _constant(self, name: str, array: Any, dtype: DType) -> Value:
        from onnx import numpy_helper

        result = range_in(array)
        if not result.fits(dtype):
            raise OddNode(f"constant '{name}' holds {result.low:,} to {result.high:,}")
        self.initializers.append(numpy_helper.from_array(array.astype(dtype.numpy), name))
        return Value(name=name, dtype=dtype, range=result, shape=tuple(array.shape), array=array)


def _whole(array: Array, name: str) -> Any:
    """The elements as int64. OddNode where one is no whole number."""
    import numpy as np

    if array.dtype.kind not in "iufb":
        raise OddNode(f"constant '{name}' is {array.dtype}")
    if array.dtype.kind == "f" and not np.array_equal(array, np.rint(array)):
        raise OddNode(f"constant '{name}' has fractions")
    return array.astype(np.int64)


def file_constants(graph: Any) -> dict[str, Array]:
    """The initialisers that are in the file itself, and what Constant nodes hold."""
    from onnx import TensorProto, helper, numpy_helper

    result = {
        tensor.name: numpy_helper.to_array(tensor)
        for tensor in graph.initializer
        if tensor.data_location != TensorProto.EXTERNAL
    }
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            result[node.output[0]] = numpy_helper.to_array(helper.get_attribute_value(node.attribute[0]))
    return result


def declared_shapes(graph: Any) -> dict[str, tuple[int, ...]]:
    """The shapes that a file declares, where they are all numbers, those of its constants among them."""
    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.value_info, *graph.input, *graph.output):
        kind = value.type.tensor_type
        if kind.HasField("shape") and all(dim.HasField("dim_value") for dim in kind.shape.dim):
            shapes[value.name] = tuple(dim.dim_value for dim in kind.shape.dim)
    return shapes
