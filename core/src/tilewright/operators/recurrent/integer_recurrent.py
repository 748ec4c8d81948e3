"""Knows QLSTM and QGRU: recurrences over all steps of a sequence, in integers. Does not know what one step computes
(`integer_cells`), nor how a network's numbers become these (`rewrite.qdq.recurrences`).

X[T, B, I] and the hidden state are i8, or i16; W[gates * H, I] and R[gates * H, H] i8, gates in ONNX's order: i o f c,
or z r h. B[gates * H] and the optional RB are i32, what zero points of X and of the state add to sums included. T is
`gate_tables.gate_table()`. Optional H0[B, H] and C0[B, H] (i16) are the state before the first step; without them it
is 0. Outputs: the last hidden state, for QLSTM the last cell state, and all hidden states, [T, B, H].

Attributes: `given_scales` and `inner_scales` (for each gate: of its sums, in steps of 2**-12), `hidden_scale` and
`zero_point` of the hidden state, `reverse`; of QLSTM `cell_power` (a step of the cell is 2**cell_power), `write_scale`
(2**-30 over the cell's scale as it is stored) and `cell_limit` (0: none); of QGRU `linear_before_reset`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_int
from tilewright.ir.access.index_map import Access
from tilewright.ir.graphs.graph import Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, CodeFragments, Kernel, TileShape
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout, row_major
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.recurrent.gate_tables import ENTRIES, tanh_shift
from tilewright.operators.recurrent.integer_cells import LARGEST_EXPONENT, ONE, IntegerCell, numbers, words
from tilewright.operators.recurrent.sequence_map import sequence_map
from tilewright.operators.shared.integer_sites import centred
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]

_GATES = MappingProxyType({"QLSTM": 4, "QGRU": 3})
_INPUTS = ("X", "W", "R", "B", "RB", "T", "H0", "C0")
_STATES = ("H0", "C0", "HN", "CN")
_LARGE_BYTES = 32 << 10  # weights above this are not copied
_WIDE = DType.I16
_TYPES = MappingProxyType(
    {"W": DType.I8, "R": DType.I8, "B": DType.I32, "RB": DType.I32, "T": DType.U16, "C0": DType.I16}
)


def _shapes(site: Site) -> Mapping[str, tuple[int, ...]]:
    steps, batches, inputs = site.input(0).shape
    hidden = site.input(2).shape[1]
    rows = _GATES[site.node.op] * hidden
    return {
        "X": (steps, batches, inputs),
        "W": (rows, inputs),
        "R": (rows, hidden),
        "B": (rows,),
        "RB": (rows,),
        "T": (ENTRIES,),
        "H0": (batches, hidden),
        "C0": (batches, hidden),
    }


def _infer(site: Site) -> tuple[Tensor, ...]:
    if len(site.input(0).shape) != 3 or len(site.input(2).shape) != 2:
        raise shape_error(site, "X is [T, B, I], R is [gates * H, H]")
    wanted = _shapes(site)
    for name, tensor in zip(_INPUTS, site.inputs, strict=False):
        if tensor is not None and tensor.shape != wanted[name]:
            raise shape_error(site, f"{name} must be {list(wanted[name])}")
    own, state = site.input(0).dtype, wanted["H0"]
    cell = [(DType.I16, state)] if site.node.op == "QLSTM" else []
    made = [(own, state), *cell, (own, (wanted["X"][0], *state))]
    return tuple(
        Tensor(name=name, dtype=dtype, shape=shape)
        for name, (dtype, shape) in zip(site.node.outputs, made, strict=False)
    )


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, weights, inner, bias, inner_bias, _, h0, c0 = (
        None if array is None else np.asarray(array, np.int64) for array in (*inputs, *(None,) * 8)[:8]
    )
    if x is None or weights is None or inner is None or bias is None:
        raise TypeError(f"{site.node.name}: X, W, R and B are needed")
    node, state = site.node, (x.shape[1], inner.shape[1])
    cell = IntegerCell(
        node=node,
        dtype=site.input(0).dtype,
        weights=weights,
        bias=bias,
        inner=inner,
        inner_bias=np.zeros_like(bias) if inner_bias is None else inner_bias,
    )
    h = np.full(state, cell.zero_point) if h0 is None else h0
    c = np.zeros(state, np.int64) if c0 is None else c0
    c = cell.begun(h) if node.op == "QGRU" else c
    y = np.zeros((x.shape[0], *state), np.int64)
    for step in range(len(x)):
        at = len(x) - 1 - step if node.integer("reverse") else step
        h, c = cell.step(x[at], h, c)
        y[at] = h
    made = (h, c, y) if node.op == "QLSTM" else (h, y)
    return tuple(array.astype(tensor.dtype.numpy) for array, tensor in zip(made, site.outputs, strict=False))


def _access(outputs: Sequence[str], site: Site) -> Access:
    indices = {"X": ":,b,:", "W": ":,:", "R": ":,:", "B": ":", "RB": ":", "T": ":"}
    return sequence_map(site, _INPUTS, outputs, indices)


def no_integer_cell(site: Site) -> str | None:
    """Why types are others than of an integer recurrence, or sums leave what its C has for them."""
    own = site.input(0).dtype
    types = {**_TYPES, "X": own, "H0": own}
    if own not in (DType.I8, _WIDE):
        return f"X is {own.value}; values must be i8 or i16"
    for name, tensor in zip(_INPUTS, site.inputs, strict=False):
        if tensor is not None and tensor.dtype is not types[name]:
            return f"{name} is {tensor.dtype.value}, must be {types[name].value}"
    w, r, b, rb = (site.constant(place) for place in (1, 2, 3, 4))
    if w is None or r is None or b is None or site.constant(5) is None or (site.has_input(4) and rb is None):
        return "weights, biases and the table must be constants"
    zeros = np.zeros_like(b)
    return sums_too_wide(site.node, own, (w, r), (b, zeros if rb is None else rb))


def sums_too_wide(node: Node, dtype: DType, weights: tuple[Array, Array], biases: tuple[Array, Array]) -> str | None:
    """Why the sums of a cell do not fit what they are held in; `weights` and `biases` are W and R, B and RB."""
    wide, reach = dtype is _WIDE, 256 if dtype is DType.I8 else 1 << 15
    if node.number("hidden_scale") > 1:
        return "a step of its hidden state is more than 1"
    if wide and node.integer("zero_point"):
        return "a state of 16 bits has a zero point, which must be 0"
    for array, bias, name in zip(weights, biases, ("given_scales", "inner_scales"), strict=True):
        sums = np.abs(centred(array)).sum(axis=1) * reach + np.abs(centred(bias))
        for scale in numbers(node, name):
            exponent = words(scale)[1]
            if not -30 <= exponent <= (14 if wide else LARGEST_EXPONENT):
                return "its scales are so far apart that every sum would be 0, or reach a limit"
            if int(sums.max(initial=0)) << (0 if wide else max(exponent, 0)) >= 2 ** (47 if wide else 31):
                return f"its sums leave the {48 if wide else 32} bits that there are for them"
    return None


_AXES = MappingProxyType(dict.fromkeys("XY", ("step", "batch")) | dict.fromkeys(_STATES, ("batch",)))


def _values(call: Call) -> Mapping[str, object]:
    node, operands = call.site.node, call.operands
    names = [name for name in (*_INPUTS, "HN", "CN", "Y") if name in operands]
    dtype, hidden = call.site.input(0).dtype, call.site.input(2).shape[1]
    fields: dict[str, object] = {
        "steps": operands["X"].extents[0],
        "batches": operands["X"].extents[1],
        "inputs": call.site.input(0).shape[2],
        "hidden": hidden,
    }
    for name in names:
        steps = zip(_AXES.get(name, ()), operands[name].strides, strict=False)
        fields |= {f"{name.lower()}_{axis}": stride for axis, stride in steps}
    low, high = dtype.limits
    fields |= {"reverse": int(bool(node.integer("reverse"))), "zero_point": node.integer("zero_point")}
    fields |= {"low": c_int(low), "high": c_int(high), **_word_fields(node, wide=dtype is _WIDE)}
    variant: dict[str, object] = {
        "cell": node.op.removeprefix("Q").lower(),
        "names": names,
        "wide": dtype is _WIDE,
        "c_type": dtype.c_type,
        "before_reset": bool(node.integer("linear_before_reset")),
    }
    digest = crc32(repr(variant).encode())  # layers that differ in nothing but numbers share one function
    pointers = ", ".join(str(operands[name]) for name in names)
    function = f"tw_{node.op.lower()}_{digest:08x}"
    sums = f"tw_gate_sums_{dtype.value}"
    return {**variant, "fields": fields, "pointers": pointers, "function": function, "sums": sums}


def _word_fields(node: Node, *, wide: bool) -> dict[str, str]:
    """Multipliers and exponents as the C structure has them."""

    def both(*scales: float, wide: bool = False) -> str:
        return f"{{{', '.join(c_int(word) for scale in scales for word in words(scale, wide=wide))}}}"

    hidden = node.number("hidden_scale")
    fields = {"given": both(*numbers(node, "given_scales"), wide=wide)}
    fields["inner"] = both(*numbers(node, "inner_scales"), wide=wide)
    if node.op == "QGRU":
        return {**fields, "out": both(1 / ONE / hidden), "in": both(ONE * hidden)}
    factor, shift = tanh_shift(node.integer("cell_power"))
    return {
        **fields,
        "out": both(ONE**-2 / hidden),
        "keep": both(1 / ONE),
        "write": both(node.number("write_scale")),
        "cell": f"{{{factor}, {shift}}}",
        "limit": c_int(node.integer("cell_limit")),
    }


def _source(values: Mapping[str, Any]) -> CodeFragments:
    """The steps, and sums of rows at once: of all gates, of those before a GRU's reset, and of what that leaves."""
    own, total = values["c_type"], "int64_t" if values["wide"] else "int32_t"
    gates, apart = _GATES[f"Q{values['cell'].upper()}"], values["cell"] == "gru" and not values["before_reset"]
    kinds = [(gates, own, f"_{gates}"), *([(2, own, "_2"), (1, "int16_t", "_left")] if apart else [])]
    sums = (
        _SUMS.of(rows=rows, x_type=x_type, total=total, sums=f"{values['sums']}{suffix}")
        for rows, x_type, suffix in kinds
    )
    return (*sums, _STEPS)


_SUMS, _STEPS = c_template("${sums}", "gate_sums.c.mako"), c_template("${function}", "qrecurrent.c.mako")


def _scratch_bytes(tile: TileShape) -> int:
    """The next hidden state; of a GRU its state of 16 bits, and what three gates leave, too."""
    node, hidden, size = tile.site.node, tile.site.input(2).shape[1], tile.site.input(0).dtype.size_bytes
    words_each = 0 if node.op == "QLSTM" else 1 if node.integer("linear_before_reset") else 4
    return hidden * (size + 2 * words_each)


def _operator(name: str, outputs: tuple[str, ...], summary: str) -> Operator:
    return Operator(
        name=name,
        inputs=_INPUTS if name == "QLSTM" else _INPUTS[:-1],
        outputs=outputs,
        summary=summary,
        infer=_infer,
        reference=_reference,
        access=partial(_access, outputs),
        macs=lambda site: (
            site.input(0).shape[0] * site.input(0).shape[1] * (site.input(1).elements + site.input(2).elements)
        ),
    )


def _stays(site: Site) -> tuple[str, ...]:
    return tuple(name for name, place in (("W", 1), ("R", 2)) if site.input(place).size_bytes > _LARGE_BYTES)


def _row_major(outputs: Sequence[str], site: Site) -> Mapping[str, Layout]:
    """Units are beside each other everywhere."""
    named = (*zip(_INPUTS, site.inputs, strict=False), *zip(outputs, site.outputs, strict=False))
    return {name: row_major(len(tensor.shape)) for name, tensor in named if tensor is not None}


def _kernel(name: str, outputs: tuple[str, ...]) -> Kernel:
    return Kernel(
        name=f"portable.{name.lower()}",
        op=name,
        roundings=("tflm",),
        parallel=("b",),
        match=no_integer_cell,
        stays=_stays,
        requires=partial(_row_major, outputs),
        scratch_bytes=_scratch_bytes,
        values=_values,
        source=_source,
        call="""\
${function}((${function}_shape){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${pointers}, ${scratch});""",
    )


_OUTPUTS = MappingProxyType({"QLSTM": ("HN", "CN", "Y"), "QGRU": ("HN", "Y")})
OPERATORS = (
    _operator("QLSTM", _OUTPUTS["QLSTM"], "a long short-term memory over all steps, in integers"),
    _operator("QGRU", _OUTPUTS["QGRU"], "a gated recurrent unit over all steps, in integers"),
)
KERNELS = tuple(_kernel(name, outputs) for name, outputs in _OUTPUTS.items())
