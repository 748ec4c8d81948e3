"""Knows how the scalar unit of floats computes steps of LSTM and GRU: products of all gates with the state as a row's,
four outputs in registers, and the rest unit by unit. Does not know peepholes, limits, nor sequences of lengths.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Layout, Site, row_major
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape
from tilewright.api.operator import Access, whole
from tilewright_cortexm.kernels.float_functions import FUNCTIONS
from tilewright_cortexm.kernels.float_products import BYTES, OUTPUTS, fours
from tilewright_cortexm.kernels.fpu_products import BLOCKS, row_of_block
from tilewright_cortexm.kernels.sources import c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_INPUTS = ("G", "R", "RB", "P", "S", "H0", "C0")
_OUTPUTS = MappingProxyType({"LSTMSteps": ("HN", "CN", "Y"), "GRUSteps": ("HN", "Y")})
_FUNCTIONS = MappingProxyType(
    {"Sigmoid": "tw_fpu_sigmoidf(v)", "Tanh": "tw_fpu_tanhf(v)", "Relu": "(v < 0.0f) ? 0.0f : v"}
)
_UNIT = MappingProxyType({"LSTMSteps": 187.0, "GRUSteps": 131.0})  # instructions of a unit, beside its products
_ONE = "tw_fpu_block_1_none"


def _match(site: Site) -> str | None:
    present = {name: tensor for name, tensor in zip(_INPUTS, site.inputs, strict=False) if tensor is not None}
    if "P" in present or "S" in present:
        return "has peepholes" if "P" in present else "has sequences of lengths of their own"
    if any(tensor.dtype is not DType.F32 for tensor in (*present.values(), *site.outputs)):
        return "is not all of float32"
    if site.constant(1) is None:
        return "weights must be constants"
    if site.node.number("clip", math.inf) != math.inf or site.node.integer("input_forget"):
        return "has a limit before its activations, or an input gate that is a forget gate"
    if site.node.number("cell_limit", math.inf) != math.inf:
        return "has a limit of its cell"
    others = sorted(set(_activations(site)) - set(_FUNCTIONS))
    return f"has the activation {others[0]}; {', '.join(_FUNCTIONS)} are supported" if others else None


def _activations(site: Site) -> tuple[str, ...]:
    names = site.node.attributes["activations"]
    return tuple(map(str, names)) if isinstance(names, tuple) else ()


def _hidden(site: Site) -> int:
    return int(site.input(1).shape[1])


def _parts(site: Site) -> tuple[int, ...]:
    """Outputs of each product with a state, in turn."""
    hidden = _hidden(site)
    if site.node.op == "LSTMSteps":
        return (4 * hidden,)
    return (3 * hidden,) if site.node.integer("linear_before_reset") else (2 * hidden, hidden)


def _pack(site: Matched) -> Mapping[str, Array]:
    weights = site.constant(1)
    if weights is None:
        raise TypeError("weights are constants, as was checked")
    ends = np.cumsum(_parts(site))[:-1]
    packed = {"W": np.concatenate([fours(part) for part in np.split(weights, ends)])}
    known = {name: site.constant(at) for at, name in enumerate(_INPUTS) if name != "R"}  # as they are
    return packed | {name: array for name, array in known.items() if array is not None}


def _shapes(site: Site) -> tuple[Mapping[str, tuple[int, ...]], Mapping[str, tuple[int, ...]]]:
    """Of what is read beside packed weights, and of what is written."""
    read = {name: tensor.shape for name, tensor in zip(_INPUTS, site.inputs, strict=False) if tensor is not None}
    read.pop("R")
    names = _OUTPUTS[site.node.op]
    return read, {name: tensor.shape for name, tensor in zip(names, site.outputs, strict=False)}


def _access(site: Matched) -> Access:
    read, written = _shapes(site)
    room = sum(align_up(part, OUTPUTS) for part in _parts(site)) * _hidden(site)
    return whole({**read, "W": (room,)}, written)


def _requires(site: Site) -> Mapping[str, Layout]:
    read, written = _shapes(site)
    return {name: row_major(len(shape)) for name, shape in {**read, **written}.items()}


def _scratch_bytes(tile: TileShape) -> int:
    """Sums of all gates, and what the reset gate leaves of a state."""
    parts = _parts(tile.site)
    return BYTES * (sum(align_up(part, OUTPUTS) for part in parts) + (_hidden(tile.site) if len(parts) > 1 else 0))


def _instructions(tile: TileShape) -> float:
    site = tile.site
    steps, batches, _ = site.input(0).shape
    hidden = _hidden(site)
    products = sum(100.0 + ceil_div(part, OUTPUTS) * (row_of_block(hidden) + 12.0) for part in _parts(site))
    return float(steps * batches) * (products + hidden * _UNIT[site.node.op] + 40.0)


def _values(call: Call) -> Mapping[str, object]:
    site = call.site
    steps, batches, _ = site.input(0).shape
    read, written = _shapes(site)
    names, activations = [*read, *written], _activations(site)
    cell, before_reset = site.node.op.removesuffix("Steps").lower(), bool(site.node.integer("linear_before_reset"))
    form = "_".join((*(name.lower() for name in activations), *(name.lower() for name in names[1:])))
    return {
        "function": f"tw_fpu_{cell}{'_before_reset' if before_reset else ''}_{form}",
        "one": _ONE,
        "cell": cell,
        "names": names,
        "functions": [_FUNCTIONS[name] for name in activations],
        "before_reset": before_reset,
        "fields": {
            "steps": steps, "batches": batches, "hidden": _hidden(site),
            "reverse": int(bool(site.node.integer("reverse"))),
        },
        "pointers": ", ".join(str(call.operands[name]) for name in ("W", *names)),
    }  # fmt: skip


_STEPS = c_template("${function}", "fpu_recurrent.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    block = BLOCKS.of(block=_ONE, pixels=1, clip="none", apart=False)
    return (*FUNCTIONS, block, _STEPS)


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"cortex-m.fpu.{op.removesuffix('Steps').lower()}_f32",
        op=op,
        target="cortex-m",
        engine="dsp",
        match=_match,
        access=_access,
        requires=_requires,
        pack=_pack,
        scratch_bytes=_scratch_bytes,
        instructions=_instructions,
        values=_values,
        source=_source,
        call="""\
${function}((tw_fpu_recurrent){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${pointers}, ${scratch});""",
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    )


KERNELS = tuple(map(_kernel, _OUTPUTS))
