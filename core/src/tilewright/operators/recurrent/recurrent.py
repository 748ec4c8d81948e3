"""Knows the recurrences of LSTM, GRU and RNN in one direction: what is left of them beside products with the input.
Does not know their ONNX nodes (`recurrent_imports`), whose products with the input are a Gemm over all steps at once.

Normal form: `G[T, B, gates * H]` are the inputs' products with the weights, biases added; `R[gates * H, H]`; optional
`RB[H]` (GRU with `linear_before_reset`: the bias inside the reset), `P[3 * H]` (LSTM: peepholes of i, o, f), `S[B]`
(how many steps each sequence has; i32), `H0[B, H]`, `C0[B, H]`. Gates are in ONNX's order: i o f c, z r h, or one.
Outputs: the last hidden state, for LSTM the last cell state, and all hidden states, [T, B, H], where they are used.
Attributes: `activations` with `alphas` and `betas`, `clip` (of what gates' activations are given; absent: none),
`cell_limit` (of an LSTM's cell after each step; absent: none), `reverse`, `input_forget`, `linear_before_reset`. Steps
after a sequence's end are 0. Weights are read where they are stored once they are large: every step reads all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from zlib import crc32

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.ir.access.index_map import Access
from tilewright.ir.graphs.graph import Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, CodeFragments, Kernel, TileShape
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_functions, c_template
from tilewright.operators.recurrent.activations import Activation, activations
from tilewright.operators.recurrent.recurrent_imports import imports
from tilewright.operators.recurrent.sequence_map import sequence_map
from tilewright.operators.shared.float_results import UNIT, dot_tolerance
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]

_GATES = MappingProxyType({"LSTMSteps": 4, "GRUSteps": 3, "RNNSteps": 1})
_INPUTS = ("G", "R", "RB", "P", "S", "H0", "C0")
_LARGE_BYTES = 32 << 10  # weights above this are not copied


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """Numbers and how far the generated C may be from them."""

    exact: Doubles
    off: Doubles

    def __add__(self, other: Value) -> Value:
        total = self.exact + other.exact
        return Value(exact=total, off=self.off + other.off + 2 * UNIT * np.abs(total))

    def __mul__(self, other: Value) -> Value:
        product = self.exact * other.exact
        mixed = np.abs(self.exact) * other.off + np.abs(other.exact) * self.off + self.off * other.off
        return Value(exact=product, off=mixed + 2 * UNIT * np.abs(product))

    def from_one(self) -> Value:
        """1 - self."""
        return Value(exact=1 - self.exact, off=self.off + 2 * UNIT)

    def within(self, limit: float) -> Value:
        """Not beyond a limit, on either side."""
        return Value(exact=np.clip(self.exact, -limit, limit), off=self.off)

    def part(self, gate: int, hidden: int) -> Value:
        """The units of one gate."""
        cut = slice(gate * hidden, (gate + 1) * hidden)
        return Value(exact=self.exact[..., cut], off=self.off[..., cut])

    def where(self, rows: npt.NDArray[np.bool_], other: Value) -> Value:
        """Self in these rows, other in the rest."""
        mask = rows[:, None]
        return Value(exact=np.where(mask, self.exact, other.exact), off=np.where(mask, self.off, other.off))


def _known(array: Doubles) -> Value:
    return Value(exact=array, off=np.zeros_like(array))


def _product(h: Value, weights: Doubles) -> Value:
    """h times the transposed weights."""
    exact = h.exact @ weights.T
    off = dot_tolerance(weights.shape[1] + 2, np.abs(h.exact) @ np.abs(weights).T, exact) + h.off @ np.abs(weights).T
    return Value(exact=exact, off=off)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell with its weights; `step` maps products with the input and a state to the next state."""

    node: Node
    weights: Doubles
    bias: Doubles | None
    peepholes: Doubles | None
    functions: tuple[Activation, ...]

    def _through(self, which: int, x: Value, *, clipped: bool = True) -> Value:
        function, clip = self.functions[which], self.node.number("clip", math.inf)
        limited = np.clip(x.exact, -clip, clip) if clipped else x.exact
        return Value(exact=function.exact(limited), off=function.error(limited, x.off))

    def step(self, gates: Doubles, h: Value, c: Value) -> tuple[Value, Value]:
        """The next hidden state, and the next cell state where there is one."""
        kind, hidden = self.node.op, h.exact.shape[1]
        if kind == "RNNSteps":
            return self._through(0, _known(gates) + _product(h, self.weights)), c
        if kind == "LSTMSteps":
            return self._lstm(_known(gates) + _product(h, self.weights), c, hidden)
        return self._gru(_known(gates), h, hidden), c

    def _lstm(self, sums: Value, c: Value, hidden: int) -> tuple[Value, Value]:
        i = self._through(0, sums.part(0, hidden) + self._peep(0, c))
        f = self._through(0, sums.part(2, hidden) + self._peep(2, c))
        f = i.from_one() if self.node.integer("input_forget") else f
        after = (f * c + i * self._through(1, sums.part(3, hidden))).within(self.node.number("cell_limit", math.inf))
        o = self._through(0, sums.part(1, hidden) + self._peep(1, after))
        return o * self._through(2, after, clipped=False), after

    def _peep(self, gate: int, c: Value) -> Value:
        hidden = c.exact.shape[1]
        if self.peepholes is None:
            return _known(np.zeros_like(c.exact))
        return _known(self.peepholes[gate * hidden : (gate + 1) * hidden]) * c

    def _gru(self, outer: Value, h: Value, hidden: int) -> Value:
        gates = [self.weights[gate * hidden : (gate + 1) * hidden] for gate in range(3)]
        z, r = (self._through(0, outer.part(gate, hidden) + _product(h, gates[gate])) for gate in range(2))
        if self.node.integer("linear_before_reset"):
            inner = _product(h, gates[2])
            inside = r * (inner if self.bias is None else inner + _known(self.bias))
        else:
            inside = _product(r * h, gates[2])
        return z.from_one() * self._through(1, outer.part(2, hidden) + inside) + z * h


def _activations(node: Node) -> tuple[Activation, ...]:
    names, alphas, betas = (node.attributes[name] for name in ("activations", "alphas", "betas"))
    if not (isinstance(names, tuple) and isinstance(alphas, tuple) and isinstance(betas, tuple)):
        raise TypeError(f"{node.name}: activations, alphas and betas are lists")
    return activations([str(name) for name in names], [float(a) for a in alphas], [float(b) for b in betas])


def _lengths(site: Site, inputs: Sequence[Array | None]) -> npt.NDArray[np.int64]:
    steps, batches, _ = site.input(0).shape
    lengths = inputs[4] if len(inputs) > 4 else None
    return np.full(batches, steps) if lengths is None else np.clip(np.asarray(lengths, np.int64), 0, steps)


def _run(site: Site, inputs: Sequence[Array | None]) -> tuple[Value, ...]:
    """Every output, as many as the node has."""
    x, weights, bias, peepholes, _, h0, c0 = (
        None if array is None else np.asarray(array, np.float64) for array in (*inputs, *(None,) * 7)[:7]
    )
    if x is None or weights is None:
        raise TypeError(f"{site.node.name}: G and R are needed")
    steps, batches, hidden = *x.shape[:2], weights.shape[1]
    lengths, reverse = _lengths(site, inputs), bool(site.node.integer("reverse"))
    cell = Cell(node=site.node, weights=weights, bias=bias, peepholes=peepholes, functions=_activations(site.node))
    zero = np.zeros((batches, hidden))
    h, c = _known(zero if h0 is None else h0), _known(zero if c0 is None else c0)
    exact, off = np.zeros((steps, batches, hidden)), np.zeros((steps, batches, hidden))
    rows = np.arange(batches)
    for step in range(steps):
        alive = step < lengths
        at = np.where(alive, lengths - 1 - step if reverse else step, step)
        h_next, c_next = cell.step(x[at, rows], h, c)
        h, c = h_next.where(alive, h), c_next.where(alive, c)
        exact[at[alive], rows[alive]], off[at[alive], rows[alive]] = h.exact[alive], h.off[alive]
    states = (h, c) if site.node.op == "LSTMSteps" else (h,)
    return (*states, Value(exact=exact, off=off))[: len(site.node.outputs)]


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    with np.errstate(all="ignore"):
        return tuple(value.exact.astype(np.float32) for value in _run(site, inputs))


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    with np.errstate(all="ignore"):
        return tuple(value.off + 2 * UNIT * np.abs(value.exact) for value in _run(site, inputs))


def _infer(site: Site) -> tuple[Tensor, ...]:
    if len(site.input(0).shape) != 3 or len(site.input(1).shape) != 2:
        raise shape_error(site, "G is [T, B, gates * H], R is [gates * H, H]")
    steps, batches, _ = site.input(0).shape
    hidden, gates = site.input(1).shape[1], _GATES[site.node.op]
    wanted: Mapping[str, tuple[int, ...]] = {
        "G": (steps, batches, gates * hidden),
        "R": (gates * hidden, hidden),
        "RB": (hidden,),
        "P": (3 * hidden,),
        "S": (batches,),
        "H0": (batches, hidden),
        "C0": (batches, hidden),
    }
    for name, tensor in zip(_INPUTS, site.inputs, strict=False):
        if tensor is not None and tensor.shape != wanted[name]:
            raise shape_error(site, f"{name} must be {list(wanted[name])}")
    state, every = (batches, hidden), (steps, batches, hidden)
    shapes = (state, state, every) if site.node.op == "LSTMSteps" else (state, every)
    return tuple(
        Tensor(name=name, dtype=DType.F32, shape=shape) for name, shape in zip(site.node.outputs, shapes, strict=False)
    )


def _access(outputs: Sequence[str], site: Site) -> Access:
    indices = {"G": ":,b,:", "R": ":,:", "RB": ":", "P": ":", "S": "b"}
    return sequence_map(site, _INPUTS, outputs, indices)


def _match(site: Site) -> str | None:
    for name, tensor in zip(_INPUTS, site.inputs, strict=False):
        if tensor is not None and tensor.dtype is not (DType.I32 if name == "S" else DType.F32):
            return f"{name} is {tensor.dtype.value}; values must be f32, lengths i32"
    return None


def _values(call: Call) -> Mapping[str, object]:
    node, operands = call.site.node, call.operands
    names = [name for name in (*_INPUTS, "HN", "CN", "Y") if name in operands]
    fields: dict[str, object] = {
        "steps": operands["G"].extents[0],
        "batches": operands["G"].extents[1],
        "hidden": call.site.input(1).shape[1],
        "reverse": int(bool(node.integer("reverse"))),
    }
    for name in names:
        for axis, stride in zip(_AXES[name], operands[name].strides, strict=True):
            fields[f"{name.lower()}_{axis}"] = stride
    clip, cell = node.number("clip", math.inf), node.number("cell_limit", math.inf)
    kind = node.op.removesuffix("Steps").lower()
    variant: dict[str, object] = {
        "cell": kind,
        "names": names,
        "functions": [function.c() for function in _activations(node)],
        "clip": "" if clip == math.inf else c_float(clip),
        "input_forget": bool(node.integer("input_forget")),
        "before_reset": bool(node.integer("linear_before_reset")),
    }
    limit = "" if cell == math.inf else c_float(cell)
    pointers = ", ".join(str(operands[name]) for name in names)
    # Layers that differ in nothing but numbers share one function; crc32 tells the others apart.
    digest = crc32(f"{variant!r}{limit}".encode())
    function = f"tw_{kind}_{digest:08x}"
    return {**variant, "cell_limit": limit, "fields": fields, "pointers": pointers, "function": function}


# What the strides of an operand's axes are called in C.
_AXES = MappingProxyType(
    {
        "G": ("step", "batch", "unit"),
        "R": ("row", "unit"),
        "RB": ("unit",),
        "P": ("unit",),
        "S": ("batch",),
        "Y": ("step", "batch", "unit"),
        **dict.fromkeys(("H0", "C0", "HN", "CN"), ("batch", "unit")),
    }
)


def _source(values: Mapping[str, object]) -> CodeFragments:
    functions = values["functions"]
    text = " ".join(map(str, functions)) if isinstance(functions, list) else ""
    return (*c_functions(f"{text} tw_clip()" if values["clip"] or values["cell_limit"] else text), _STEPS)


def _scratch_bytes(tile: TileShape) -> int:
    """The next hidden state, and what a GRU multiplies with the reset gate before the product."""
    node, hidden = tile.site.node, tile.site.input(1).shape[1]
    inside = node.op == "GRUSteps" and not node.integer("linear_before_reset")
    return 4 * hidden * (2 if inside else 1)


_STEPS = c_template("${function}", "recurrent.c.mako")


def _operator(name: str, outputs: tuple[str, ...], summary: str) -> Operator:
    return Operator(
        name=f"{name}Steps",
        inputs=_INPUTS,
        outputs=outputs,
        summary=summary,
        infer=_infer,
        reference=_reference,
        access=partial(_access, outputs),
        tolerance=_tolerance,
        macs=lambda site: site.input(0).shape[0] * site.input(0).shape[1] * site.input(1).elements,
        imports=imports(name),
    )


def _kernel(name: str) -> Kernel:
    return Kernel(
        name=f"portable.{name.lower()}_f32",
        op=f"{name}Steps",
        parallel=("b",),
        match=_match,
        stays=lambda site: ("R",) if site.input(1).size_bytes > _LARGE_BYTES else (),
        scratch_bytes=_scratch_bytes,
        values=_values,
        source=_source,
        call="""\
${function}((${function}_shape){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${pointers}, ${scratch});""",
        includes=("<stdint.h>", "<math.h>"),
    )


OPERATORS = (
    _operator("LSTM", ("HN", "CN", "Y"), "a long short-term memory over all steps, products with the input aside"),
    _operator("GRU", ("HN", "Y"), "a gated recurrent unit over all steps, products with the input aside"),
    _operator("RNN", ("HN", "Y"), "a recurrent layer over all steps, products with the input aside"),
)
KERNELS = tuple(_kernel(name) for name in ("LSTM", "GRU", "RNN"))
