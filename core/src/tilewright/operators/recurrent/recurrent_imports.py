"""Knows how ONNX's LSTM, GRU and RNN become a Gemm over all steps and a recurrence for each direction.
Does not know how the recurrence is computed (`recurrent`).

Source: ONNX 7, 14 and 22. Biases of weights and of recurrence weights are added to the products with the input, but for
the one inside a GRU's reset (`linear_before_reset`). `clip` limits what gates' activations are given, not the cell
state: so onnxruntime has it. An importer that has a limit of the cell writes an LSTM of the domain `tilewright`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.recurrent.activations import KINDS
from tilewright.operators.shared.refusals import need_types

_GATES = MappingProxyType({"LSTM": 4, "GRU": 3, "RNN": 1})
_DEFAULTS = MappingProxyType({"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)})
_DIRECTIONS = MappingProxyType({"forward": (False,), "reverse": (True,), "bidirectional": (False, True)})
_STATES = MappingProxyType({"LSTM": 2, "GRU": 1, "RNN": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The operands of a node by ONNX's names, "" where absent, and what its attributes say."""

    kind: str
    x: str  # [T, B, I]
    w: str
    r: str
    b: str
    lengths: str
    states: tuple[str, ...]  # initial ones, [D, B, H]
    p: str
    hidden: int
    directions: tuple[bool, ...]  # whether each runs backwards

    @property
    def seen(self) -> bool:
        """Whether passes look at weights: an initial state may say that the layer computes in integers."""
        return bool(self.states[0])


def _import(kind: str, node: OnnxNode, graph: Conversion) -> None:
    layer = _layer(kind, node, graph)
    wanted = [bool(name) and name not in node.unread for name in (*node.outputs, "", "")[: 1 + _STATES[kind]]]
    functions = _functions(kind, node, graph, len(layer.directions))
    results = [
        _direction(node, graph, layer, index, functions[index], every=wanted[0])
        for index in range(len(layer.directions))
    ]
    states, every = [each[:-1] for each in results], [each[-1] for each in results]
    batch_first = bool(node.integer("layout"))
    if wanted[0]:
        _stack(node, graph, every, 1, (2, 0, 1, 3) if batch_first else None, node.outputs[0])
    for index, needed in enumerate(wanted[1:]):
        if needed:
            parts = [each[index] for each in states]
            _stack(node, graph, parts, 0, (1, 0, 2) if batch_first else None, node.outputs[1 + index])


def _layer(kind: str, node: OnnxNode, graph: Conversion) -> Layer:
    x, w, r, b, lengths, h0, c0, p = (*node.inputs, *("",) * 8)[:8]
    need_types(node, graph, DType.F32, first=4)
    directions = _DIRECTIONS.get(node.text("direction", "forward"))
    if directions is None:
        raise graph.refuse(node, f"direction is {node.text('direction')!r}; known: {', '.join(_DIRECTIONS)}")
    hidden = graph.tensor(r).shape[-1]
    if node.integer("hidden_size", hidden) != hidden:
        raise graph.refuse(node, f"hidden_size is {node.integer('hidden_size')}, R has {hidden}")
    shapes = [len(graph.tensor(name).shape) for name in (x, w, r)]
    if shapes != [3, 3, 3] or {graph.tensor(name).shape[0] for name in (w, r)} != {len(directions)}:
        raise graph.refuse(node, "X, W and R have three axes, W and R an entry for each direction")
    states = [h0, c0][: _STATES[kind]]
    if node.integer("layout"):
        x = graph.emit(node, "Transpose", (x,), (), {"perm": (1, 0, 2)}, "steps_first")
        states = [graph.emit(node, "Transpose", (s,), (), {"perm": (1, 0, 2)}, "state") if s else "" for s in states]
    return Layer(
        kind=kind, x=x, w=w, r=r, b=b, lengths=lengths, states=tuple(states), p=p, hidden=hidden, directions=directions
    )


def _functions(kind: str, node: OnnxNode, graph: Conversion, directions: int) -> list[Mapping[str, Attribute]]:
    """Names and parameters of the activations of each direction; parameters are given to those that take some."""
    activations = node.attributes.get("activations", _DEFAULTS[kind] * directions)
    names = [str(name) for name in activations] if isinstance(activations, tuple) else []
    known = {name.lower(): name for name in KINDS}
    if len(names) != len(_DEFAULTS[kind]) * directions or any(name.lower() not in known for name in names):
        raise graph.refuse(node, f"activations are {names}; {len(_DEFAULTS[kind])} are needed for each direction")
    names = [known[name.lower()] for name in names]
    alphas, betas = (_parameters(node, graph, names, which) for which in (0, 1))
    count = len(_DEFAULTS[kind])
    cuts = (slice(start, start + count) for start in range(0, len(names), count))
    return [{"activations": tuple(names[cut]), "alphas": alphas[cut], "betas": betas[cut]} for cut in cuts]


_PARAMETRIC = (  # names of activations that take alpha, and beta
    ("Affine", "Elu", "HardSigmoid", "LeakyRelu", "ScaledTanh", "ThresholdedRelu"),
    ("Affine", "HardSigmoid", "ScaledTanh"),
)


def _parameters(node: OnnxNode, graph: Conversion, names: Sequence[str], which: int) -> tuple[float, ...]:
    """Values in the order of the activations that take them; the defaults where none are left."""
    attribute = ("activation_alpha", "activation_beta")[which]
    values = node.attributes.get(attribute, ())
    left = [float(value) for value in values] if isinstance(values, tuple) else []
    result = []
    for name in names:
        takes = name in _PARAMETRIC[which]
        result.append(left.pop(0) if takes and left else KINDS[name].defaults[which])
    if left:
        raise graph.refuse(node, f"{attribute} has more values than there are activations that take one")
    return tuple(result)


def _direction(
    node: OnnxNode,
    graph: Conversion,
    layer: Layer,
    index: int,
    functions: Mapping[str, Attribute],
    *,
    every: bool,
) -> tuple[str, ...]:
    """The recurrence of one direction: its last states, and all hidden ones ("" unless `every`)."""
    gates, hidden = _GATES[layer.kind], layer.hidden
    reset = layer.kind == "GRU" and bool(node.integer("linear_before_reset"))
    w = _entry(node, graph, layer.w, index, "w", seen=layer.seen)
    bias, inside = _bias(node, graph, layer, index, reset=reset)
    product = {"alpha": 1.0, "beta": 1.0, "transB": 1}
    g = graph.emit(node, "Gemm", (layer.x, w, *((bias,) if bias else ())), (), product, f"given_{index}")
    lengths = layer.lengths
    if lengths and graph.tensor(lengths).dtype is not DType.I32:
        lengths = graph.emit(node, "Cast", (lengths,), (), {"to": "i32"}, "lengths")
    optional = [
        inside,
        _entry(node, graph, layer.p, index, "p"),
        lengths,
        *(_entry(node, graph, state, index, "state", seen=layer.seen) for state in layer.states),
    ]
    attributes: dict[str, Attribute] = {**functions, "reverse": int(layer.directions[index])}
    if node.number("clip") > 0:
        attributes["clip"] = node.number("clip")
    if layer.kind == "LSTM":
        attributes |= _of_cell(node)
    if layer.kind == "GRU":
        attributes["linear_before_reset"] = int(reset)
    r = _entry(node, graph, layer.r, index, "r", seen=layer.seen)
    if graph.tensor(r).shape != (gates * hidden, hidden):
        raise graph.refuse(node, f"R is {list(graph.tensor(layer.r).shape)}; {gates} gates of {hidden} are needed")
    hints = [*("h", "c")[: _STATES[layer.kind]], *(["y"] if every else [])]
    names = [graph.name(node, f"{hint}_{index}") for hint in hints]
    graph.emit(node, f"{layer.kind}Steps", (g, r, *optional), names, attributes, f"steps_{index}")
    return (*names, *([] if every else [""]))


def _of_cell(node: OnnxNode) -> dict[str, Attribute]:
    """What an LSTM alone has."""
    limit = node.number("cell_limit")
    return {"input_forget": int(bool(node.integer("input_forget"))), **({"cell_limit": limit} if limit > 0 else {})}


def _entry(node: OnnxNode, graph: Conversion, name: str, index: int, hint: str, *, seen: bool = False) -> str:
    """Entry `index` of the first axis; where it is `seen`, passes still find what a constant is dequantised from."""
    if not name:
        return ""
    value, shape = graph.constant(name), graph.tensor(name).shape
    if value is not None and not seen:
        return graph.add_constant(np.ascontiguousarray(value[index]), f"{hint}_{index}")
    if shape[0] > 1:
        name = _cut(node, graph, name, index, index + 1, f"{hint}_{index}")
    return graph.emit(node, "Reshape", (name,), (), {"shape": shape[1:]}, f"{hint}_{index}_flat")


def _cut(node: OnnxNode, graph: Conversion, name: str, start: int, end: int, hint: str) -> str:
    """Entries `start` to `end` of the first axis."""
    shape = graph.tensor(name).shape
    rest = (0,) * (len(shape) - 1)
    cut: dict[str, Attribute] = {
        "starts": (start, *rest),
        "steps": (1,) * len(shape),
        "shape": (end - start, *shape[1:]),
    }
    return graph.emit(node, "Slice", (name,), (), cut, hint)


def _bias(node: OnnxNode, graph: Conversion, layer: Layer, index: int, *, reset: bool) -> tuple[str, str]:
    """The sum of both biases, and the part that stays inside a GRU's reset; "" where there is none."""
    both = _entry(node, graph, layer.b, index, "b", seen=layer.seen)
    if not both:
        return "", ""
    units = _GATES[layer.kind] * layer.hidden
    kept = units - layer.hidden if reset else units  # of the recurrence's bias
    value = graph.constant(both)
    if value is not None and not layer.seen:
        inner = np.where(np.arange(units) < kept, value[units:], np.float32(0))
        total = graph.add_constant(np.asarray(value[:units] + inner, np.float32), f"bias_{index}")
        return total, graph.add_constant(value[units + kept :], f"inside_{index}") if reset else ""
    own, outer = (_cut(node, graph, both, start, start + units, "half") for start in (0, units))
    inside = ""
    if reset:
        inside = _cut(node, graph, outer, kept, units, "inside")
        zero = graph.add_constant(np.zeros(layer.hidden, np.float32), "zero")
        outer = graph.emit(
            node, "Concat", (_cut(node, graph, outer, 0, kept, "outer"), zero), (), {"axis": 0}, "outer_only"
        )
    return graph.emit(node, "Add", (own, outer), (), {}, f"bias_{index}"), inside


def _stack(
    node: OnnxNode, graph: Conversion, parts: Sequence[str], axis: int, order: tuple[int, ...] | None, output: str
) -> None:
    """One entry for each direction along a new axis, and the axes in another order."""
    shape = graph.tensor(parts[0]).shape
    wider: Attribute = (*shape[:axis], 1, *shape[axis:])
    single = len(parts) == 1 and order is None
    apart = [graph.emit(node, "Reshape", (part,), (output,) if single else (), {"shape": wider}) for part in parts]
    if single:
        return
    value = apart[0]
    if len(parts) > 1:
        value = graph.emit(node, "Concat", apart, () if order else (output,), {"axis": axis}, "directions")
    if order:
        graph.emit(node, "Transpose", (value,), (output,), {"perm": order})


_COMMON = {
    "activation_alpha": "FLOATS",
    "activation_beta": "FLOATS",
    "activations": "STRINGS",
    "clip": "FLOAT",
    "direction": "STRING",
    "hidden_size": "INT",
}
_OWN = MappingProxyType(
    {"LSTM": {"input_forget": "INT"}, "GRU": {"linear_before_reset": "INT"}, "RNN": dict[str, str]()}
)


def imports(kind: str) -> tuple[Import, ...]:
    """Every signature of one kind of layer."""
    make = partial(
        Import, op_type=kind, convert=partial(_import, kind), min_inputs=3, max_inputs=8 if kind == "LSTM" else 6
    )
    own = {**_COMMON, **_OWN[kind]}
    later = {**own, "layout": "INT"}
    limited = make(since=1, domain="tilewright", attributes={**later, "cell_limit": "FLOAT"})
    return (make(since=7, attributes=own), make(since=14, attributes=later), *((limited,) if kind == "LSTM" else ()))
