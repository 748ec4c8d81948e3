"""Knows how a network becomes one that is called with what is new of a window: its nodes once for each part that they
compute, state in and out, and what the state is before the first call. Does not know which parts these are.

State holds what the call before has computed. It begins as if a window of nothing but `filler` had been computed, so
that every call, from the first on, gives what the whole network gives for the window that ends with its elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tilewright.ir.graphs.graph import Attribute, Graph, Node, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import fresh, origins
from tilewright.rewrite.slide.clones import Reads, attributes_of, reads_of
from tilewright.rewrite.slide.intervals import Interval
from tilewright.rewrite.slide.reuse import Reuse
from tilewright.rewrite.slide.running_sums import RunningSum
from tilewright.rewrite.slide.stream_plan import Run, StreamPlan

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Piece = tuple[Interval, str]  # elements of a value along its time axis, and the tensor that holds them


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a tensor of a stream holds of a whole window: the elements `interval` of a value along an axis, or the sum
    of all that these hold, less `zeros`.
    """

    value: str
    axis: int
    interval: Interval
    summed: tuple[int, ...] = ()  # the axes of a sum
    keeps: bool = False  # these axes, with one element each
    zeros: int = 0

    def of(self, values: Mapping[str, Array]) -> Array:
        """That of the window that has these values."""
        import numpy as np

        part = np.asarray(values[self.value]).take(range(*self.interval), axis=self.axis)
        if not self.summed:
            return part
        total: Any = part.astype(np.int64).sum(
            axis=self.summed, keepdims=self.keeps
        )  # numpy knows it only as a literal
        return np.asarray((total - self.zeros).astype(np.int32))


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """An input of the streaming network that has the value of `output` of the call before; `initial` before any.

    It holds `kept` of the windows of the last `lag` calls, the oldest first, behind each other along axis 0.
    """

    input: str
    output: str
    kept: Part
    initial: Array = field(compare=False)
    lag: int = 1


@dataclass(slots=True, kw_only=True)
class StreamingGraph:
    """Nodes, tensors and states of the streaming network, collected in order. Local to `streaming_graph`."""

    graph: Graph
    reuse: Reuse
    plan: StreamPlan
    operators: Mapping[str, Operator]
    filled: Mapping[str, Array]  # every value of the whole network for the window before the first
    nodes: list[Node] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)
    pieces: dict[str, list[Piece]] = field(default_factory=dict)
    parts: dict[tuple[str, Interval], str] = field(default_factory=dict)  # that were cut out or joined before
    computed: dict[str, Part] = field(default_factory=dict)
    states: list[State] = field(default_factory=list)

    def add(
        self, op: str, inputs: Sequence[str], hint: str, origin: Node | None = None, like: Node | None = None,
        attributes: Mapping[str, Attribute] | None = None, output: str = "",
    ) -> str:  # fmt: skip
        """Append a node, its output typed by the operator's own rule, and return that output."""
        stands_for = like or origin
        name = output or fresh(hint, self.tensors, self.graph.tensors)
        node = Node(
            name=fresh(like.name if like else f"{name}:{op.lower()}", {node.name for node in self.nodes}),
            op=op,
            inputs=tuple(inputs),
            outputs=(name,),
            attributes=attributes or {},
            origin=origins(stands_for) if stands_for else (),
        )
        self.tensors[name] = Tensor(name=name, dtype=DType.F32, shape=())
        self.tensors[name] = self.operators[op].infer(self._graph((node,)).site(node))[0]
        self.nodes.append(node)
        return name

    def constant(self, array: Array, hint: str) -> str:
        """The name of a new constant."""
        name = fresh(hint, self.tensors, self.graph.tensors)
        self.tensors[name] = Tensor(name=name, dtype=DType.from_numpy(array.dtype), shape=tuple(array.shape))
        self.constants[name] = array
        return name

    def state(self, hint: str, kept: Part, lag: int) -> tuple[str, str]:
        """The name of a new input that is state, and of what it holds of `lag` calls before. What it is in the next
        call is said to `follow`.
        """
        initial = self._initial(kept, lag)
        name = fresh(hint, self.tensors, self.graph.tensors)
        self.tensors[name] = Tensor(name=name, dtype=DType.from_numpy(initial.dtype), shape=tuple(initial.shape))
        return name, name if lag == 1 else self._cut(name, 0, 0, len(initial) // lag, "")

    def follow(self, state: str, newest: str, kept: Part, lag: int) -> None:
        """In the next call `state` ends with `newest`, and no longer has what is oldest."""
        output = newest
        if lag > 1:
            initial = self.tensors[state].shape[0]
            later = self._cut(state, 0, initial // lag, initial, "")
            output = self.add("Concat", (later, newest), f"{state}:next", attributes={"axis": 0})
        self.states.append(State(input=state, output=output, kept=kept, initial=self._initial(kept, lag), lag=lag))

    def _initial(self, kept: Part, lag: int) -> Array:
        import numpy as np

        element = kept.of(self.filled)
        return element if lag == 1 else np.concatenate([element] * lag)

    def part(self, value: str, interval: Interval, output: str = "") -> str:
        """The tensor with these elements of a value along its time axis: cut out of its pieces, or joined of them."""
        result = self.parts.get((value, interval)) if not output else None
        if result:
            return result
        axis = self.reuse.axes[value].axis
        names = []
        for (low, high), tensor in self.pieces[value]:
            cut = (max(low, interval[0]), min(high, interval[1]))
            if cut[0] >= cut[1]:
                continue
            named = output if cut == interval else ""
            whole = cut == (low, high) and not named
            names.append(tensor if whole else self._cut(tensor, axis, cut[0] - low, cut[1] - low, named))
        made = names[0] if len(names) == 1 else self._joined(value, names, axis, interval, output)
        if not output:
            self.parts[value, interval] = made
        return made

    def finish(self) -> Graph:
        """The network as it is called, verified."""
        inputs = (*self.graph.inputs, *(state.input for state in self.states))
        outputs = (*self.graph.outputs, *(state.output for state in self.states))
        graph = self._graph(tuple(self.nodes))
        return graph.with_nodes(tuple(self.nodes), inputs=inputs, outputs=outputs).verify()

    def _graph(self, nodes: tuple[Node, ...]) -> Graph:
        return replace(
            self.graph,
            nodes=nodes,
            tensors={**self.graph.tensors, **self.tensors},
            constants={**self.graph.constants, **self.constants},
        )

    def _cut(self, tensor: str, axis: int, low: int, high: int, output: str) -> str:
        shape = list(self.tensors[tensor].shape)
        starts = tuple(low if at == axis else 0 for at in range(len(shape)))
        shape[axis] = high - low
        attributes: dict[str, Attribute] = {"starts": starts, "steps": (1,) * len(shape), "shape": tuple(shape)}
        return self.add("Slice", (tensor,), f"{tensor}:part", attributes=attributes, output=output)

    def _joined(self, value: str, names: Sequence[str], axis: int, interval: Interval, output: str) -> str:
        hint = f"{value}:{interval[0]}_{interval[1]}"
        return self.add("Concat", names, hint, attributes={"axis": axis}, output=output)


def streaming_graph(
    graph: Graph, reuse: Reuse, plan: StreamPlan, sliding: str, operators: Mapping[str, Operator],
    filled: Mapping[str, Array],
) -> tuple[Graph, tuple[State, ...], Mapping[str, Part]]:  # fmt: skip
    """The network that `plan` describes, its states, and what its other tensors hold of the whole window's values.
    `filled`: every value for the window before the first.
    """
    made = StreamingGraph(graph=graph, reuse=reuse, plan=plan, operators=operators, filled=filled)
    _take_new(made, sliding)
    for node in graph.nodes:
        if node.name in plan.sums:
            _add_sum(made, plan.sums[node.name])
        elif node.name in reuse.readings:
            _add_parts(made, node)
        else:
            _add_whole(made, node)
    return made.finish(), tuple(made.states), made.computed


def _take_new(made: StreamingGraph, sliding: str) -> None:
    """The input has the new elements of its axis alone."""
    axis, (run,) = made.reuse.axes[sliding], made.plan.runs[sliding]
    tensor = made.graph.tensors[sliding]
    shape = tuple(axis.shift if at == axis.axis else extent for at, extent in enumerate(tensor.shape))
    made.tensors[sliding] = replace(tensor, shape=shape)
    made.tensors.update({name: made.graph.tensors[name] for name in made.graph.inputs if name != sliding})
    made.pieces[sliding] = [(run.computed[0], sliding)]
    _keep(made, sliding, run)


def _add_parts(made: StreamingGraph, node: Node) -> None:
    """A node for each part of its output that is computed, and the state that holds the rest."""
    (value,) = node.outputs
    made.pieces[value] = []
    runs = made.plan.runs[value]
    alone = len(runs) == 1 and runs[0].computed == ((0, made.reuse.axes[value].length),)
    for run in runs:
        for interval in run.computed:
            hint = value if alone else f"{value}:{interval[0]}_{interval[1]}"
            tensor = _computed(made, node, interval, hint, value if alone else "")
            made.pieces[value].append((interval, tensor))
            made.computed[tensor] = Part(value=value, axis=made.reuse.axes[value].axis, interval=interval)
        _keep(made, value, run)
    if value in made.graph.outputs and not alone:
        made.part(value, (0, made.reuse.axes[value].length), output=value)


def _computed(made: StreamingGraph, node: Node, interval: Interval, hint: str, output: str) -> str:
    reads: dict[int, Reads] = {}
    inputs = list(node.inputs)
    for at, reading in made.reuse.readings[node.name].items():
        source = node.inputs[at]
        reads[at] = reads_of(reading, made.reuse.axes[source].length, interval)
        inputs[at] = made.part(source, reads[at].interval)
    attributes = attributes_of(node, made.reuse.axes[node.outputs[0]], reads, interval)
    return made.add(node.op, inputs, hint, like=node, attributes=attributes, output=output)


def _keep(made: StreamingGraph, value: str, run: Run) -> None:
    """What the run keeps comes in as state, and what it is in the next call goes out."""
    if run.keeps == 0:
        made.pieces[value].sort()
        return
    axis = made.reuse.axes[value]
    kept = Part(value=value, axis=axis.axis, interval=(run.kept[0] + axis.shift, run.kept[1] + axis.shift))
    state, oldest = made.state(f"{value}:kept", kept, axis.lag)
    made.pieces[value] = sorted([*made.pieces[value], (run.kept, oldest)])
    following = fresh(f"{value}:keeps", made.tensors, made.graph.tensors)
    made.follow(state, made.part(value, kept.interval, output=following), kept, axis.lag)


def _add_whole(made: StreamingGraph, node: Node) -> None:
    """A node that computes all of its outputs anew, of all elements of its inputs."""
    inputs = tuple(
        made.part(name, (0, made.reuse.axes[name].length)) if name in made.reuse.axes else name for name in node.inputs
    )
    made.nodes.append(replace(node, inputs=inputs, name=fresh(node.name, {other.name for other in made.nodes})))
    made.tensors.update({name: made.graph.tensors[name] for name in node.outputs})


def _add_sum(made: StreamingGraph, running: RunningSum) -> None:
    """The running sum: state + incoming; + edges is all of it; - outgoing is the next state."""
    node = running.node
    (value,) = node.outputs
    axis, span = made.reuse.axes[running.source].axis, (running.outgoing[1], running.incoming[1])
    zeros = node.integer("x_zero_point") * running.terms
    kept = Part(value=running.source, axis=axis, interval=span, summed=running.axes, keeps=running.keeps, zeros=zeros)
    state, oldest = made.state(f"{value}:sum", kept, running.lag)
    total = entered = _combined(made, running, "Add", oldest, [running.incoming])
    if running.edges:
        total = _combined(made, running, "Add", entered, running.edges)
    left = _combined(made, running, "Sub", entered, [running.outgoing])
    made.follow(state, left, kept, running.lag)
    _requantise(made, running, total)
    if value in made.reuse.axes:
        made.pieces[value] = [((0, 1), value)]


def _requantise(made: StreamingGraph, running: RunningSum, total: str) -> None:
    """The formula of `Requant` as operators of floats: f32(f32(sum) * scale), rounded, moved and limited."""
    import numpy as np

    node, requant = running.node, running.node.requant()
    (value,) = node.outputs
    scale = requant.scale[running.terms - 1 if len(requant.scale) > 1 else 0]
    real = made.add("Cast", (total,), f"{value}:real", node, attributes={"to": DType.F32.value})
    factor = made.constant(np.full((1,), scale, np.float32), f"{value}:scale")
    scaled = made.add("Mul", (real, factor), f"{value}:scaled", node)
    unit = made.constant(np.ones((), np.float32), f"{value}:unit")
    zero_type = made.graph.tensors[value].dtype
    zero = made.constant(np.asarray(requant.zero_point, zero_type.numpy), f"{value}:zero")
    attributes: dict[str, Attribute] = {"to": zero_type.value}
    made.add("QuantizeLinear", (scaled, unit, zero), value, like=node, attributes=attributes, output=value)


def _combined(made: StreamingGraph, running: RunningSum, op: str, to: str, intervals: Sequence[Interval]) -> str:
    """`to` and the sums over these intervals."""
    value = running.node.outputs[0]
    for interval in intervals:
        part = made.part(running.source, interval)
        wide = made.add("Cast", (part,), f"{value}:wide", running.node, attributes={"to": DType.I32.value})
        attributes: dict[str, Attribute] = {"axes": running.axes, "keepdims": int(running.keeps)}
        summed = made.add("ReduceSum", (wide,), f"{value}:part", running.node, attributes=attributes)
        to = made.add(op, (to, summed), f"{value}:summed", running.node)
    return to
