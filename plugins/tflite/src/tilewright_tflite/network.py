"""Knows the ONNX graph while it is being made: values of tensors, stored and real, constants and nodes.
Does not know operators.

A quantised tensor is the integers that the file has, under the file's name; `real` is what they stand for, `put` stores
real numbers as a tensor's integers. Whatever only moves elements works on the integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.importer import KeptState, Limits
from tilewright_tflite.elements import elements_of, tensor_of_nibbles
from tilewright_tflite.errors import InnerError, LostError, RefusedError
from tilewright_tflite.folding import folded
from tilewright_tflite.ledger import Ledger
from tilewright_tflite.model import BYTES, HELD, Operator, Subgraph, Tensor

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CHANNELS_FIRST = (0, 3, 1, 2)  # of an image that has them last
CHANNELS_LAST = (0, 2, 3, 1)  # of one that has them first
_AROUND = ("Clip", "DequantizeLinear", "Identity", "QuantizeLinear", "Relu", "Reshape", "Transpose")


@dataclass(slots=True, kw_only=True)
class Variable:
    """A variable of the file while its graph is converted."""

    name: str
    assigned: bool = False  # by the graph, in every run
    initial: Array | None = None
    value: str = ""  # that it has at this place of the graph
    state: str = ""  # input that it is read from


Converter = Callable[[Operator, "Network"], None]


def _unknown(operator: Operator, net: Network) -> None:
    raise RefusedError(f"nothing converts {operator.code} in {net.graph.name}")


class Network:
    """One graph of the file as ONNX. Mutable, and private to one import."""

    def __init__(self, graph: Subgraph, limits: Limits, outer: Network | None = None) -> None:
        self.graph = graph
        self.limits = limits
        self.ledger: Ledger = outer.ledger if outer else Ledger(limits)
        self.depth: int = outer.depth + 1 if outer else 0
        self.nodes: list[Any] = []  # onnx.NodeProto
        self.variables: Mapping[int, Variable] = {}  # of the graph, by the tensors that stand for them
        self.graphs: tuple[Subgraph, ...] = outer.graphs if outer else (graph,)  # of the file
        self.called: set[int] = outer.called if outer else set()  # of them, those that others run
        self.converter: Converter = outer.converter if outer else _unknown
        self.lost: set[int] = set()  # tensors of operators that were refused
        self.padded: dict[int, tuple[Tensor, list[int]]] = {}  # image -> the one it has zeros around, how many
        self.turned: dict[str, Tensor] = {}  # value with channels first -> the tensor, which has them last
        self._first: dict[int, str] = {}  # tensor -> its stored value with channels first
        self._first_reals: dict[int, str] = {}
        self._facing = False  # whether images are read and put with channels first
        self.states: list[KeptState] = []
        self.state_inputs: list[tuple[str, Tensor]] = []
        self.state_outputs: list[tuple[str, Tensor]] = []
        self._title = ""
        self._values: dict[int, str] = {}  # tensor -> its stored value
        self._reals: dict[int, str] = {}
        self._arrays: dict[int, Array] = {}  # tensor that is known -> elements
        self._weights: dict[tuple[int, tuple[int, ...]], str] = {}
        self._shared: set[str] = set()  # values that several operators may read
        self._names: dict[int, str] = {}  # of tensors that something asks about
        self._own: set[str] = set()
        for index in () if outer else (*graph.inputs, *graph.outputs):
            self.name(graph.tensors[index])

    def call(self, index: int) -> Subgraph:
        """Another graph of the file, which this one runs."""
        if not 0 < index < len(self.graphs):
            raise RefusedError(f"it runs graph {index}, of {len(self.graphs)}")
        self.called.add(index)
        return self.graphs[index]

    def nested(self, index: int) -> Network:
        """That graph as the body of a node, still to be converted."""
        if self.depth >= self.limits.nesting:
            raise RefusedError(f"graphs run each other, {self.depth} deep")
        return Network(self.call(index), self.limits, self)

    def convert(self) -> None:
        """Convert all operators of a body. RefusedError at the first one that cannot be taken."""
        for operator in self.graph.operators:
            self.begin(operator)
            try:
                self.converter(operator, self)
            except InnerError:
                raise
            except RefusedError as error:
                raise InnerError(f"in '{self.graph.name}', {operator.title}: {error}") from error

    def begin(self, operator: Operator) -> None:
        """From here on nodes belong to `operator`."""
        self._title = operator.title

    def fresh(self, wanted: str) -> str:
        """A name that nothing has."""
        return self.ledger.fresh(wanted)

    def name(self, tensor: Tensor) -> str:
        """What the value of a tensor is called: as in the file, unless something else has that name."""
        if tensor.index not in self._names:
            self._names[tensor.index] = self.fresh(tensor.name or f"tensor_{tensor.index}")
            self._own.add(self._names[tensor.index])
        return self._names[tensor.index]

    def tensor(self, index: int) -> Tensor:
        """A tensor that operators can use."""
        tensor = self.graph.tensors[index]
        if index in self.lost:
            raise LostError(tensor.name)
        if tensor.fault:
            raise RefusedError(f"its tensor '{tensor.name}' {tensor.fault}")
        return tensor

    def has(self, operator: Operator, index: int) -> bool:
        """Whether an input is there."""
        return index < len(operator.inputs) and operator.inputs[index] >= 0

    def input(self, operator: Operator, index: int) -> Tensor:
        """An input that must be there."""
        if not self.has(operator, index):
            raise RefusedError(f"its input {index} is missing")
        return self.tensor(operator.inputs[index])

    def output(self, operator: Operator, index: int = 0) -> Tensor:
        """An output that must be there."""
        if index >= len(operator.outputs):
            raise RefusedError(f"its output {index} is missing")
        tensor = self.tensor(operator.outputs[index])
        if tensor.type not in HELD:
            raise RefusedError(f"its output '{tensor.name}' is {tensor.type}, which tilewright does not hold")
        return tensor

    def known(self, tensor: Tensor) -> Array | None:
        """The elements of a tensor that is the same in every run, else None."""
        if tensor.index in self._arrays:
            return self._arrays[tensor.index]
        return None if tensor.data is None else elements_of(tensor, tensor.data)

    def need(self, operator: Operator, index: int) -> Array:
        """The elements of an input that must be known."""
        tensor = self.input(operator, index)
        array = self.known(tensor)
        if array is None and tensor.index in self._values:
            array = folded(self._values[tensor.index], self.nodes, self.ledger.constants)
        if array is None:
            raise RefusedError(f"its input '{tensor.name}' must be constant, and is computed")
        return array

    def need_integers(self, operator: Operator, index: int) -> tuple[int, ...]:
        """The same as whole numbers: a shape, axes, places."""
        array = self.need(operator, index)
        if array.dtype.kind not in "iu" or array.size > self.limits.name_length:
            raise RefusedError(f"its input '{self.input(operator, index).name}' is no list of whole numbers")
        return tuple(int(each) for each in array.reshape(-1))

    # -- values

    def images(self, operator: Operator) -> bool:
        """Whether an operator of any order of axes may have its images with channels first: one of them is there so,
        and nothing that it reads is aligned with axes of another number.
        """
        tensors = [self.tensor(index) for index in (*operator.inputs, *operator.outputs) if index >= 0]
        turned = any(tensor.index in self._first for tensor in tensors)
        wide = any(tensor.quantised and tensor.type not in BYTES for tensor in tensors)
        return turned and not wide and all(len(tensor.shape) == 4 or set(tensor.shape) <= {1} for tensor in tensors)

    @contextmanager
    def channels_first(self) -> Iterator[None]:
        """Images inside are read and put with channels first."""
        self._facing = True
        try:
            yield
        finally:
            self._facing = False

    def axis(self, axis: int, tensor: Tensor) -> int:
        """Where an axis of a tensor is in its value."""
        return CHANNELS_FIRST.index(axis) if self._faces(tensor) else axis

    def stored_first(self, tensor: Tensor) -> str:
        """The elements of an image with channels first."""
        if tensor.index not in self._first:
            array = self.known(tensor)
            if array is not None:
                return self.constant(array.transpose(CHANNELS_FIRST), f"{self.name(tensor)}_moved")
            return self.moved(self._stored(tensor), CHANNELS_FIRST)
        return self._first[tensor.index]

    def real_first(self, tensor: Tensor) -> str:
        """The numbers that they stand for."""
        if not tensor.quantised:
            return self.stored_first(tensor)
        if self.known(tensor) is not None:
            return self.weights(tensor, CHANNELS_FIRST)
        if tensor.index not in self._first:
            return self.moved(self._real(tensor), CHANNELS_FIRST)
        if tensor.index not in self._first_reals:
            self._first_reals[tensor.index] = self.dequantised(tensor, self._first[tensor.index])
            self._shared.add(self._first_reals[tensor.index])
        return self._first_reals[tensor.index]

    def stored(self, tensor: Tensor) -> str:
        """The value that has a tensor's elements as the file has them."""
        return self.stored_first(tensor) if self._faces(tensor) else self._stored(tensor)

    def real(self, tensor: Tensor) -> str:
        """The value that has the numbers that a tensor's elements stand for."""
        return self.real_first(tensor) if self._faces(tensor) else self._real(tensor)

    def _faces(self, tensor: Tensor) -> bool:
        return self._facing and len(tensor.shape) == 4

    def _stored(self, tensor: Tensor) -> str:
        if tensor.index not in self._values:
            array = self.known(tensor)
            if array is None:
                raise RefusedError(f"its input '{tensor.name}' is written by no operator before it")
            self._values[tensor.index] = self.constant(array, self.name(tensor))
        return self._values[tensor.index]

    def _real(self, tensor: Tensor) -> str:
        if not tensor.quantised:
            return self._stored(tensor)
        if tensor.index not in self._reals:
            self._reals[tensor.index] = self.dequantised(tensor, self._stored(tensor))
            self._shared.add(self._reals[tensor.index])
        return self._reals[tensor.index]

    def weights(self, tensor: Tensor, perm: Sequence[int], shape: Sequence[int] = ()) -> str:
        """A constant's real numbers in another order of axes, and then another shape of as many axes."""
        key = (tensor.index, (*perm, -1, *shape))
        array = self.known(tensor)
        if array is None:
            raise RefusedError(f"its weights '{tensor.name}' are computed")
        if key not in self._weights:
            moved = np.ascontiguousarray(array.transpose(perm))
            moved = moved.reshape(shape) if shape else moved
            axis = next((at for at, old in enumerate(perm) if old == tensor.axis), 0)
            narrow = tensor.type == "int4" and tensor.quantised
            value = self.constant(moved, f"{self.name(tensor)}_moved", narrow=narrow)
            self._weights[key] = self.dequantised(tensor, value, axis, narrow) if tensor.quantised else value
        return self._weights[key]

    def dequantised(self, tensor: Tensor, value: str, axis: int | None = None, narrow: bool = False) -> str:
        """What integers `value` stand for, by the scales of a tensor. `narrow`: whether they are held in 4 bits."""
        scales, zeros = self._scales(tensor, narrow)
        more: dict[str, Any] = {"axis": tensor.axis if axis is None else axis} if len(tensor.scales) > 1 else {}
        return self.node("DequantizeLinear", (value, scales, zeros), **more)

    def _scales(self, tensor: Tensor, narrow: bool = False) -> tuple[str, str]:
        kind = np.dtype("int8" if tensor.type == "int4" else tensor.type)
        zeros = tensor.zero_points
        if len(tensor.scales) == 1:
            scale, zero = self.constant(np.array(tensor.scale), "scale"), np.array(tensor.zero_point, kind)
            return scale, self.constant(zero, "zero_point", narrow=narrow)
        filled = np.broadcast_to(zeros if zeros.size else np.zeros(1), tensor.scales.shape).astype(kind)
        return self.constant(tensor.scales, "scales"), self.constant(filled, "zero_points", narrow=narrow)

    def as_stored(self, tensor: Tensor, value: str, output: str = "") -> str:
        """Real numbers as a tensor of such scales would store them."""
        if not tensor.quantised:
            return value
        if len(tensor.scales) != 1 or tensor.type == "int4" or tensor.scale <= 0:
            raise RefusedError(f"its output '{tensor.name}' has a scale for each channel, or one that is 0")
        return self.node("QuantizeLinear", (value, *self._scales(tensor)), output=output)

    def put(self, tensor: Tensor, value: str) -> None:
        """Real numbers become the tensor: quantised where it is quantised."""
        if self._faces(tensor):
            self.put_image(tensor, value)
        elif tensor.quantised:
            self.take(tensor, self.as_stored(tensor, value, self.name(tensor)))
        else:
            self.put_stored(tensor, value)

    def take(self, tensor: Tensor, value: str) -> None:
        """The tensor is another value, as it is."""
        self._values[tensor.index] = value

    def put_stored(self, tensor: Tensor, value: str) -> None:
        """A value becomes the tensor as it is."""
        if self._faces(tensor):
            self.put_stored_image(tensor, value)
        else:
            self._put(tensor, value)

    def _put(self, tensor: Tensor, value: str) -> None:
        name = self.name(tensor)
        if value != name and not self._renamed(value, name):
            self.node("Identity", (value,), output=name)
        self.take(tensor, name)

    def put_image(self, tensor: Tensor, value: str) -> None:
        """Real numbers with channels first become the tensor, which has them last; see `turned`."""
        if tensor.quantised and tensor.type not in BYTES:  # such layers stay floats, whose axes fold away
            self.put(tensor, self.moved(value, CHANNELS_LAST))
            return
        name = self.fresh(f"{self.name(tensor)}:nchw")
        self.put_stored_image(tensor, self.as_stored(tensor, value, name), name)

    def put_stored_image(self, tensor: Tensor, value: str, name: str = "") -> None:
        """The same of a value as it is stored."""
        name = name or self.fresh(f"{self.name(tensor)}:nchw")
        if value == name or self._renamed(value, name):
            self.turned[name], value = tensor, name
        self._first[tensor.index] = value
        self._put(tensor, self.moved(value, CHANNELS_LAST))

    def _renamed(self, value: str, name: str) -> bool:
        """Whether a value could be given this name: the last node has just made it."""
        last = self.nodes[-1] if self.nodes else None
        free = last is not None and list(last.output) == [value] and value not in self._own | self._shared
        if last is not None and free:
            last.output[0] = name
        return free

    def filled(self, tensor: Tensor, number: int = 0) -> Array:
        """Elements that the file leaves out, all of them one number. BudgetError where they are too many."""
        kind = np.dtype(tensor.type)
        self.ledger.made(int(np.prod(tensor.shape, dtype=object)) * kind.itemsize)
        return np.full(tensor.shape, number, kind)

    def put_known(self, tensor: Tensor, array: Array) -> None:
        """The tensor is the same in every run."""
        if array.shape != tensor.shape:
            raise RefusedError(f"its output '{tensor.name}' is declared {list(tensor.shape)}, not {list(array.shape)}")
        self._arrays[tensor.index] = array

    # -- state

    def kept(self, tensor: Tensor, name: str) -> str:
        """An input that has what the run before has left; it is of a tensor's form."""
        value = name if name == self.name(tensor) else self.fresh(name)
        self.state_inputs.append((value, tensor))
        return value

    def keep(self, kept: str, value: str, initial: Array | None, name: str) -> None:
        """A value becomes what the next run is given as `kept`."""
        output = self.node("Identity", (value,), output=self.fresh(f"{name}_next"))
        tensor = next(tensor for state, tensor in self.state_inputs if state == kept)
        self.state_outputs.append((output, tensor))
        self.states.append(KeptState(output=output, input=kept, initial=initial))

    # -- nodes

    def constant(self, array: Array, hint: str, *, narrow: bool = False) -> str:
        """A constant of its own; a `narrow` one has 4 bits."""
        from onnx import numpy_helper

        self.ledger.constant(array)
        name = hint if hint in self._own else self.fresh(f"{self._title}/{hint}")
        whole = np.ascontiguousarray(array).reshape(array.shape)
        self.ledger.constants.append(tensor_of_nibbles(whole, name) if narrow else numpy_helper.from_array(whole, name))
        return name

    def integers(self, values: Sequence[int], hint: str) -> str:
        """A list of whole numbers: a shape, axes, places."""
        return self.constant(np.array(values, np.int64), hint)

    def node(self, op_type: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """A node of one output; its name."""
        return self.split(op_type, inputs, (output or self.fresh(f"{self._title}/{op_type}:0"),), **attributes)[0]

    def split(self, op_type: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> tuple[str, ...]:
        """A node of several outputs; their names."""
        from onnx import helper

        self.ledger.node()
        self.ledger.spend(*inputs, *outputs)
        wanted = f"{self._title}/{op_type}" if op_type in _AROUND or self.ledger.taken(self._title) else self._title
        self.nodes.append(helper.make_node(op_type, inputs, outputs, name=self.fresh(wanted), **attributes))
        return tuple(outputs)

    def moved(self, value: str, perm: Sequence[int]) -> str:
        """Axes in another order."""
        return self.node("Transpose", (value,), perm=list(perm))

    def reshaped(self, value: str, shape: Sequence[int]) -> str:
        """The same elements in another shape."""
        return self.node("Reshape", (value, self.integers(shape, "shape")))
