"""Knows the pass that makes integers of LSTM and GRU: of those whose file says how their state is stored.
Does not know what a step of them computes (`operators.recurrent.integer_cells`).

A file says so where the initial hidden state is dequantised from 8 or 16 bits, and an LSTM's initial cell state from
16; the states are stored in the same way after every step. A Clip behind the cell's DequantizeLinear is the limit of
the cell. Input, weights and recurrence weights are dequantised too, weights with one scale for each gate. Biases are
brought to the scales of their sums, zero points of input and state are in them. The results are dequantised.

How far a step is from that of the floats is not bounded by a step of the result, as elsewhere: `validate` shows it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.recurrent.gate_tables import GATE_POWER, gate_table
from tilewright.operators.recurrent.integer_cells import ONE
from tilewright.operators.recurrent.integer_recurrent import sums_too_wide
from tilewright.rewrite.edit import Draft, GraphView, origins
from tilewright.rewrite.qdq.gate_weights import Rows, real_of, rows_of
from tilewright.rewrite.qdq.island import QuantisedSource, dequantised

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

_INTEGER = MappingProxyType({"LSTMSteps": "QLSTM", "GRUSteps": "QGRU"})
_FUNCTIONS = MappingProxyType({"LSTMSteps": ("Sigmoid", "Tanh", "Tanh"), "GRUSteps": ("Sigmoid", "Tanh")})
_CELL = DType.I16
_VALUES = (DType.I8, DType.I16)
_POWERS = (-15, 0)  # of two: a step of a cell
_STEP = 2.0**GATE_POWER


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """A state before the first step: what it is dequantised from, and how large it may be."""

    stored: QuantisedSource
    limit: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """A recurrence and what it reads; biases are real numbers."""

    node: Node
    gemm: Node
    x: QuantisedSource
    given: Rows
    inner: Rows
    bias: Doubles
    inner_bias: Doubles
    hidden: _State
    cell: _State | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    """What the integer operator is given."""

    bias: Array
    inner_bias: Array
    attributes: Mapping[str, Attribute]


def _apply(graph: Graph, context: PassContext) -> PassResult:
    view, draft = GraphView.of(graph), Draft(graph=graph)
    told: list[Diagnostic] = []
    table = ""
    for node in graph.nodes:
        hidden = _state(view, node, 5) if node.op in _INTEGER else None
        cell = _state(view, node, 6) if node.op == "LSTMSteps" else None
        if hidden is None or (node.op == "LSTMSteps" and cell is None):
            continue
        layer = _layer(view, node, hidden, cell)
        numbers = layer if isinstance(layer, str) else _numbers(layer)
        if isinstance(layer, str) or isinstance(numbers, str):
            told.append(_left(node, str(numbers)))
            continue
        table = table or draft.constant(gate_table(), "gate_table")
        draft.replace(node, *_nodes(draft, layer, numbers, table))
    return PassResult(graph=draft.finish(), diagnostics=tuple(told))


def _state(view: GraphView, node: Node, place: int) -> _State | None:
    """What an operand was dequantised from, maybe limited and in another shape; None where it is no such value."""
    value, limit = node.inputs[place] if place < len(node.inputs) else "", math.inf
    maker = view.producer.get(value)
    while maker is not None and maker.op in ("Clip", "Reshape"):
        if maker.op == "Clip":
            limit = min(limit, maker.number("max", math.inf), -maker.number("min", -math.inf))
        value = maker.inputs[0]
        maker = view.producer.get(value)
    stored = dequantised(view, value) if value else ""
    return None if isinstance(stored, str) else _State(stored=stored, limit=limit)


def _layer(view: GraphView, node: Node, hidden: _State, cell: _State | None) -> _Layer | str:
    """The recurrence with what it reads, or why it has no integer form."""
    gemm = view.producer.get(node.inputs[0])
    if gemm is None or not _is_product(gemm):
        return "the products with its input are no Gemm"
    optional = [name for name, place in (("peepholes", 3), ("lengths of sequences", 4)) if _has(node, place)]
    optional += [name for name in ("clip", "input_forget") if node.attributes.get(name)]
    if optional or node.attributes.get("activations") != _FUNCTIONS[node.op]:
        return f"an integer form has no {optional[0]}" if optional else "its activations are not Sigmoid and Tanh"
    x, outer, inner = dequantised(view, gemm.inputs[0]), rows_of(view, gemm.inputs[1]), rows_of(view, node.inputs[1])
    if isinstance(x, str):
        return f"its input is not quantised: {x}"
    if isinstance(outer, str) or isinstance(inner, str):
        return outer if isinstance(outer, str) else str(inner)
    none = np.zeros(1)
    bias = real_of(view, gemm.inputs[2]) if _has(gemm, 2) else none
    inner_bias = real_of(view, node.inputs[2]) if _has(node, 2) else none
    if isinstance(bias, str) or isinstance(inner_bias, str):
        return bias if isinstance(bias, str) else str(inner_bias)
    return _Layer(
        node=node, gemm=gemm, x=x, given=outer, inner=inner, bias=bias, inner_bias=inner_bias, hidden=hidden, cell=cell
    )


def _is_product(node: Node) -> bool:
    plain = (node.number("alpha", 1), node.number("beta", 1), node.integer("transA")) == (1, 1, 0)
    return node.op == "Gemm" and plain and node.integer("transB") == 1


def _has(node: Node, place: int) -> bool:
    return place < len(node.inputs) and bool(node.inputs[place])


def _numbers(layer: _Layer) -> _Numbers | str:
    """Scales, zero points and biases of the integer operator; or why there are none."""
    x, h = layer.x.affine, layer.hidden.stored.affine
    units = layer.inner.integers.shape[1]
    outer, inner = layer.given.gates(units), layer.inner.gates(units)
    if not (x.whole and h.whole) or x.dtype is not h.dtype or x.dtype not in _VALUES:
        return f"its input is {x.dtype.value} and its state {h.dtype.value}: both i8, or both i16, with one scale"
    if outer is None or inner is None:
        return "its weights have several scales within a gate"
    products = x.scales() * outer, h.scales() * inner  # float32
    reset = layer.node.op == "GRUSteps" and not layer.node.integer("linear_before_reset")
    bias = _stored_bias(layer.bias, products[0], x.zero_point[0] * layer.given.integers.sum(1), units)
    moved = h.zero_point[0] * layer.inner.integers.sum(1)
    own = np.zeros(len(moved))
    own[len(moved) - layer.inner_bias.size :] = layer.inner_bias.reshape(-1)
    moved[2 * units :] *= 0 if reset else 1  # the reset gate is multiplied with a state without zero point
    inner_bias = _stored_bias(own, products[1], moved, units)
    if bias is None or inner_bias is None:
        return "its bias does not fit 32 bits at the scale of its sums"
    attributes: dict[str, Attribute] = {
        "rounding": "tflm",
        "given_scales": tuple(float(scale) / _STEP for scale in products[0]),
        "inner_scales": tuple(float(scale) / _STEP for scale in products[1]),
        "hidden_scale": h.scale[0],
        "zero_point": h.zero_point[0],
        "reverse": int(bool(layer.node.integer("reverse"))),
    }
    more = _own(layer)
    if isinstance(more, str):
        return more
    made = replace(layer.node, op=_INTEGER[layer.node.op], attributes={**attributes, **more})
    refused = sums_too_wide(made, x.dtype, (layer.given.integers, layer.inner.integers), (bias, inner_bias))
    return refused or _Numbers(bias=bias, inner_bias=inner_bias, attributes=made.attributes)


def _stored_bias(real: Doubles, products: npt.NDArray[np.float32], moved: Integers, units: int) -> Array | None:
    """Real numbers in steps of each gate's sums, and less what zero points add to them; None beyond 32 bits."""
    whole = (
        np.rint(np.broadcast_to(real.reshape(-1), moved.shape) / np.repeat(products.astype(np.float64), units)) - moved
    )
    return None if np.abs(whole).max(initial=0) >= 2**31 else whole.astype(np.int32)


def _own(layer: _Layer) -> Mapping[str, Attribute] | str:
    """What only one of the operators has."""
    if layer.cell is None:
        return {"linear_before_reset": int(bool(layer.node.integer("linear_before_reset")))}
    affine = layer.cell.stored.affine
    if affine.dtype is not _CELL or not affine.whole or affine.zero_point[0]:
        return f"its cell is {affine.dtype.value}, must be i16 with one scale and zero point 0"
    scale = affine.scale[0]
    power = round(math.log2(scale))
    if not _POWERS[0] <= power <= _POWERS[1]:
        return f"a step of its cell is {scale:g}, must be from 2**{_POWERS[0]} to 2**{_POWERS[1]}"
    limit = layer.cell.limit / scale
    limited = 0 if math.isinf(limit) else min(int(limit), _CELL.limits[1])
    return {"cell_power": power, "write_scale": ONE**-2 / scale, "cell_limit": limited}


def _nodes(draft: Draft, layer: _Layer, numbers: _Numbers, table: str) -> tuple[Node, ...]:
    """The states in their shapes, the integer operator, and its results dequantised."""
    node, name = layer.node, layer.node.name
    state = (draft.graph.tensors[node.outputs[0]].shape, [layer.hidden, *([layer.cell] if layer.cell else [])])
    before: list[Node] = []
    initial = [_initial(draft, name, each, state[0], before) for each in state[1]]
    initial = [] if all(each == "" for each in initial) else initial
    inner_bias = draft.constant(numbers.inner_bias, f"{name}_inner_bias") if np.any(numbers.inner_bias) else ""
    weights = [
        draft.constant(rows.integers.astype(np.int8), f"{name}_{hint}")
        for rows, hint in ((layer.given, "w"), (layer.inner, "r"))
    ]
    bias = draft.constant(numbers.bias, f"{name}_bias")
    kept = [layer.hidden, *([layer.cell] if layer.cell else []), layer.hidden]
    integers, after = [], []
    for each, output in zip(kept, node.outputs, strict=False):
        source = each.stored
        integers.append(draft.value(source.affine.dtype, draft.graph.tensors[output].shape, f"{output}_stored"))
        inputs = (integers[-1], *source.node.inputs[1:])
        after.append(
            Node(
                name=draft.node_name(f"{output}_dequantise"),
                op="DequantizeLinear",
                inputs=inputs,
                outputs=(output,),
                origin=origins(node),
            )
        )
    made = Node(
        name=name,
        op=_INTEGER[node.op],
        inputs=(layer.x.value, *weights, bias, inner_bias, table, *initial),
        outputs=tuple(integers),
        attributes=numbers.attributes,
        origin=origins(layer.gemm, node),
    )
    return (*before, made, *after)


def _initial(draft: Draft, name: str, state: _State, shape: tuple[int, ...], before: list[Node]) -> str:
    """The value of a state as it is stored; "" where it is 0, and known to be."""
    value, affine = state.stored.value, state.stored.affine
    known = draft.graph.constants.get(value)
    if known is not None and np.all(known == affine.zero_point[0]):
        return ""
    if draft.graph.tensors[value].shape == shape:
        return value
    reshaped = draft.value(affine.dtype, shape, f"{value}_of_{name}")
    attributes: dict[str, Attribute] = {"shape": shape}
    title = draft.node_name(f"{name}/{value}_reshape")
    before.append(Node(name=title, op="Reshape", inputs=(value,), outputs=(reshaped,), attributes=attributes))
    return reshaped


def _left(node: Node, reason: str) -> Diagnostic:
    return Diagnostic(
        code="TW3030",
        severity="warning",
        message=f"{node.op.removesuffix('Steps')} is computed in float, though its file stores its state in integers, "
        f"and without the limit that it may have for a cell: {reason}",
        where=node.name,
        fix=("quantise it with `tilewright quantize --recurrent int8`", "or accept the float step"),
    )


LOWER_RECURRENCES = GraphPass(
    name="lower-recurrences",
    summary="LSTM and GRU whose states are stored as integers become QLSTM and QGRU",
    apply=_apply,
    roots=tuple(_INTEGER),
    after=("move-quantisation",),
    before=("lower-quantised",),
    lossy=True,
)
"""What `tflm` computes for an LSTM; what a GRU is here, by the same tables."""
