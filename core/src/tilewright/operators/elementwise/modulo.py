"""Knows Mod: what a division leaves, with the sign of the divisor, or of the dividend where `fmod` is asked for.
Does not know quotients (`binary`).

An integer modulo 0 is 0; a constant divisor that holds one is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.pairs import Expression, pair_kernel, pair_operator

Array = npt.NDArray[np.generic]


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = np.asarray(inputs[0]), np.asarray(inputs[1])
    with np.errstate(all="ignore"):
        return (np.asarray((np.fmod if site.node.integer("fmod") else np.mod)(a, b)),)


def _match(site: Site) -> str | None:
    dtype = site.output.dtype
    if dtype in (DType.F64, DType.BOOL):
        return f"elements are {dtype.value}; the portable kernel computes in f32 and integers"
    return None


def _expression(site: Site) -> Expression:
    """Of unsigned integers both are one."""
    dtype = site.output.dtype
    kind = "f32" if dtype is DType.F32 else f"{dtype.value[0]}{64 if dtype.size_bytes == 8 else 32}"
    function = "fmod" if site.node.integer("fmod") and not kind.startswith("u") else "mod"
    return Expression(name=f"{function}_{dtype.value}", text=f"({dtype.c_type})tw_{function}_{kind}(a, b)")


def _import(node: OnnxNode, graph: Conversion) -> None:
    dtype, divisor = graph.tensor(node.inputs[0]).dtype, graph.constant(node.inputs[1])
    if dtype.is_integer and divisor is not None and not bool(np.all(divisor)):
        raise graph.refuse(node, "the divisor is a constant that holds a zero")
    graph.emit(node, "Mod", node.inputs, node.outputs, {"fmod": int(bool(node.integer("fmod")))})


MOD = pair_operator(
    "Mod",
    "what a divided by b leaves",
    _reference,
    (Import(op_type="Mod", since=10, attributes={"fmod": "INT"}, convert=_import, min_inputs=2, max_inputs=2),),
)

OPERATORS = (MOD,)
KERNELS = (pair_kernel("Mod", _match, _expression),)
