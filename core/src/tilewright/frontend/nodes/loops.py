"""Knows how Loop and Scan are unrolled: where the number of iterations is known, each is a copy of the body.
Does not know how a body is imported (`model_walk`), nor its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from tilewright.frontend.nodes.builder import GraphBuilder
from tilewright.frontend.nodes.conversion import NodeImporter
from tilewright.frontend.nodes.scope import Scope, emit_in
from tilewright.frontend.reading.file_model import FileGraph, FileNode
from tilewright.frontend.reading.reader import too_many_nodes
from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.model_formats import Limits

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Values = list[str | None]
_SCAN_WITHOUT_BATCH = 9  # the version that has no batch axis


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scanned:
    """One input or output of a Scan that goes along an axis."""

    axis: int
    backwards: bool

    def place(self, iteration: int, iterations: int) -> int:
        """Where along the axis an iteration is."""
        return iterations - 1 - iteration if self.backwards else iteration


class Unroller:
    """Unrolls loops into `builder`. `run` imports the nodes of a body whose inputs are in a scope."""

    def __init__(
        self, builder: GraphBuilder, importer: NodeImporter, limits: Limits, run: Callable[[FileGraph, Scope], Values]
    ) -> None:
        self._builder, self._importer, self._limits, self._run = builder, importer, limits, run
        self._nodes = 0  # that iterations made

    def loop(self, node: FileNode, body: FileGraph, scope: Scope, inputs: Sequence[str]) -> Values:
        """The outputs of a Loop in `scope`. RefusedNode where an iteration depends on values of run time."""
        most, going = self._known(inputs, 0, "its number of trips"), self._known(inputs, 1, "its condition")
        carried: Values = [*inputs[2:]]
        if len(body.inputs) != 2 + len(carried) or len(body.outputs) <= len(carried):
            raise InvalidNode("the inputs or outputs of its body do not fit")
        gathered: list[Values] = [[] for _ in body.outputs[1 + len(carried) :]]
        for iteration in count():
            if (going is not None and not going.any()) or (most is not None and iteration >= int(most.max(initial=0))):
                break
            self._count(body)
            inner = Scope(outer=scope, prefix=f"{scope.prefix}{iteration}/")
            arguments = [self._constant(inner, "trip", iteration), self._constant(inner, "going", True), *carried]
            inner.values.update(zip((value.name for value in body.inputs), arguments, strict=True))
            results = self._run(body, inner)
            if None in results:
                return [None] * len(node.outputs)
            if results[0] == arguments[1]:  # the condition is handed on: it makes all iterations
                self._demand_room((0 if most is None else int(most.max(initial=0))) * _size(body))
            going = self._known([results[0] or ""], 0, "whether it goes on")
            carried = results[1 : 1 + len(carried)]
            for values, result in zip(gathered, results[1 + len(carried) :], strict=True):
                values.append(result)
        wanted = node.outputs[len(carried) :]
        forward = _Scanned(axis=0, backwards=False)
        return [*carried, *(self._stacked(scope, *each, forward) for each in zip(wanted, gathered, strict=False))]

    def scan(self, node: FileNode, body: FileGraph, scope: Scope, inputs: Sequence[str]) -> Values:
        """The outputs of a Scan in `scope`, whose number of iterations is an extent."""
        if node.version < _SCAN_WITHOUT_BATCH:
            raise RefusedNode("only Scan of opset 9 and newer is supported; export the model again")
        moving = _integers(node, "num_scan_inputs", 1)[0]
        states = len(inputs) - moving
        if not 1 <= moving <= len(inputs) or len(body.inputs) != len(inputs) or len(body.outputs) < states:
            raise InvalidNode("num_scan_inputs, or the inputs or outputs of its body, do not fit")
        scan_inputs, iterations = self._scan_inputs(node, inputs[states:])
        self._demand_room(iterations * _size(body))
        carried: Values = [*inputs[:states]]
        gathered: list[Values] = [[] for _ in body.outputs[states:]]
        for iteration in range(iterations):
            self._count(body)
            inner = Scope(outer=scope, prefix=f"{scope.prefix}{iteration}/")
            places = [(name, along.axis, along.place(iteration, iterations)) for name, along in scan_inputs]
            parts = [self._part(inner, *place) for place in places]
            inner.values.update(zip((value.name for value in body.inputs), (*carried, *parts), strict=True))
            results = self._run(body, inner)
            if None in results:
                return [None] * len(node.outputs)
            carried = results[:states]
            for values, result in zip(gathered, results[states:], strict=True):
                values.append(result)
        along = []
        for index, values in enumerate(gathered):
            rank = len(self._builder.tensor(values[0] or "").shape) + 1 if values else 1
            along.append(_scanned(node, "output", index, len(gathered), rank))
        wanted = zip(node.outputs[states:], gathered, along, strict=False)
        return [*carried, *(self._stacked(scope, name, values, how) for name, values, how in wanted)]

    def _scan_inputs(self, node: FileNode, names: Sequence[str]) -> tuple[list[tuple[str, _Scanned]], int]:
        """The inputs that a Scan goes along, and the number of iterations."""
        shapes = [self._builder.tensor(name).shape for name in names]
        scanned = [_scanned(node, "input", index, len(names), len(shape)) for index, shape in enumerate(shapes)]
        extents = {shape[along.axis] for shape, along in zip(shapes, scanned, strict=True)}
        if len(extents) != 1:
            raise InvalidNode("the inputs it goes along have different extents")
        return list(zip(names, scanned, strict=True)), extents.pop()

    def _known(self, inputs: Sequence[str], index: int, what: str) -> Array | None:
        """The constant of a scalar input; None where the input is absent."""
        if index >= len(inputs) or not inputs[index]:
            return None
        scalar = self._importer.constant(inputs[index])
        if scalar is None or scalar.size != 1:
            raise RefusedNode(f"{what} is computed at run time; export the model with the loop unrolled")
        return scalar

    def _count(self, body: FileGraph) -> None:
        """One more iteration."""
        self._nodes += _size(body)
        self._demand_room(self._nodes)

    def _demand_room(self, nodes: int) -> None:
        if nodes > self._limits.unrolled:
            raise too_many_nodes("with its loops unrolled the model has", nodes, self._limits.unrolled)

    def _constant(self, scope: Scope, hint: str, value: int | bool) -> str:
        import numpy as np

        name = self._builder.names.take(scope.prefix + hint)
        self._builder.add_constant(name, np.array(value, np.bool_ if isinstance(value, bool) else np.int64))
        return name

    def _part(self, scope: Scope, name: str, axis: int, place: int) -> str:
        """The part of a value at one place along an axis, without that axis."""
        shape = self._builder.tensor(name).shape
        starts = tuple(place if other == axis else 0 for other in range(len(shape)))
        single = tuple(1 if other == axis else extent for other, extent in enumerate(shape))
        cut: dict[str, Attribute] = {"starts": starts, "steps": (1,) * len(shape), "shape": single}
        part = emit_in(scope, self._builder, "Slice", [name], cut)
        return emit_in(scope, self._builder, "Reshape", [part], {"shape": (*shape[:axis], *shape[axis + 1 :])})

    def _stacked(self, scope: Scope, wanted: str, values: Values, along: _Scanned) -> str | None:
        """Values of one shape, one for each iteration, along a new axis; None where nothing reads the result."""
        if not wanted:
            return None
        if not values:
            raise RefusedNode("it makes no trip, and the extents of what it would gather are not known")
        rows = []
        for value in reversed(values) if along.backwards else values:
            shape = self._builder.tensor(value or "").shape
            row = (*shape[: along.axis], 1, *shape[along.axis :])
            rows.append(emit_in(scope, self._builder, "Reshape", [value or ""], {"shape": row}))
        return rows[0] if len(rows) == 1 else emit_in(scope, self._builder, "Concat", rows, {"axis": along.axis})


def _size(body: FileGraph) -> int:
    """Nodes of an iteration: one more for the values that it takes and returns."""
    return len(body.nodes) + 1


def _integers(node: FileNode, name: str, number: int) -> tuple[int, ...]:
    """An attribute of `number` integers; zeros where it is absent."""
    value = next((each.value for each in node.attributes if each.name == name), (0,) * number)
    integers = value if isinstance(value, tuple) else (value,)
    if len(integers) != number or not all(isinstance(each, int) for each in integers):
        raise InvalidNode(f"attribute {name} must hold {number} integer(s)")
    return tuple(each for each in integers if isinstance(each, int))


def _scanned(node: FileNode, direction: str, index: int, number: int, rank: int) -> _Scanned:
    """The axis and the direction of one of `number` inputs or outputs of a Scan; `rank` counts the axis."""
    axis = _integers(node, f"scan_{direction}_axes", number)[index]
    if not -rank <= axis < rank:
        raise InvalidNode(f"scan_{direction}_axes: {axis} is no axis of a tensor with {rank} dimensions")
    return _Scanned(axis=axis % rank, backwards=bool(_integers(node, f"scan_{direction}_directions", number)[index]))
