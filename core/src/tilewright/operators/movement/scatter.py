"""Knows ScatterElements and ScatterND: a copy of X in which elements at indexed positions are replaced or combined.
Does not know gathering (`elements`).

Normal form: an index for each update, in the order of updates: `I[U]` (i64) is a place in X, row-major, of a slice of
`U[..., slice]`; ScatterElements has slices of one element. Attributes `reduction` ("none", "add", "mul", "max", "min")
and `slice`, elements. Later updates of a place come after earlier ones. A place outside X changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_functions import c_functions
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.movement.scatter_imports import IMPORTS
from tilewright.operators.shared.float_error import UNIT
from tilewright.operators.shared.shape_errors import shape_error
from tilewright.operators.shared.window_imports import MAX_UNPOOL

Array = npt.NDArray[np.generic]

_COMBINE = MappingProxyType({"none": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum})


def _slice(site: Site) -> int:
    return site.node.integer("slice", 1)


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, places, updates = (site.input(index) for index in range(3))
    if x.dtype is not updates.dtype or len(places.shape) != 1 or places.dtype is not DType.I64:
        raise shape_error(site, "X and U have one type, I[U] is i64")
    if updates.elements != places.elements * _slice(site):
        raise shape_error(site, f"U has {updates.elements} elements for {places.elements} places")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    y = np.asarray(inputs[0]).copy().reshape(-1)
    places, count = np.asarray(inputs[1], np.int64), _slice(site)
    updates = np.asarray(inputs[2]).reshape(len(places), count)
    combine = _COMBINE[str(site.node.attributes["reduction"])]
    with np.errstate(all="ignore"):
        for place, update in zip(places.tolist(), updates, strict=True):
            if 0 <= place <= y.size - count:
                cut = slice(place, place + count)
                y[cut] = update if combine is None else combine(y[cut], update)
    return (y.reshape(site.output.shape),)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """Sums and products are rounded as the reference rounds them, in the same order; 1 ULP for contracted ones."""
    (y,) = _reference(site, inputs)
    return (np.abs(y.astype(np.float64)) * 2 * UNIT if y.dtype == np.float32 else None,)


def _access(site: Site) -> Access:
    """Any update may belong anywhere."""
    shapes = {**{name: site.input(index).shape for index, name in enumerate("XIU")}, "Y": site.output.shape}
    x, i, u, y = (f"{name}[{','.join(':' * len(shape))}]" for name, shape in shapes.items())
    return parse_map(f": {x} {i} {u} -> {y}").bind(shapes)


def _match(site: Site) -> str | None:
    dtype = site.output.dtype
    if dtype is DType.F64 or (dtype is DType.BOOL and site.node.attributes["reduction"] != "none"):
        return f"X is {dtype.value}; the portable kernel combines f32 and integers"
    return None


def _values(call: Call) -> Mapping[str, object]:
    operands, dtype = call.operands, call.operands["Y"].dtype
    reduction = str(call.site.node.attributes["reduction"])
    expression = _expression(reduction, dtype)
    return {
        "function": f"tw_scatter_{reduction}_{dtype.value}",
        "c_type": dtype.c_type,
        "expression": expression,
        "elements": math.prod(operands["Y"].shape),
        "count": operands["I"].shape[0],
        "slice": _slice(call.site),
    }


def _expression(reduction: str, dtype: DType) -> str:
    """C over `old` and `update`."""
    if reduction == "none":
        return "update"
    if dtype is DType.F32:
        symbols = {"add": "old + update", "mul": "old * update"}
        return symbols.get(reduction) or f"tw_{reduction}_f32(old, update)"
    if reduction in ("max", "min"):
        return f"old {'>' if reduction == 'max' else '<'} update ? old : update"
    wide = f"uint{64 if dtype.size_bytes == 8 else 32}_t"
    return f"({dtype.c_type})(({wide})old {'+' if reduction == 'add' else '*'} ({wide})update)"


def _row_major(site: Site) -> Mapping[str, tuple[int, ...]]:
    shapes = {"X": site.input(0).shape, "U": site.input(2).shape, "Y": site.output.shape}
    return {name: tuple(range(len(shape))) for name, shape in shapes.items()}


_SCATTER = c_template("${function}", "scatter.c.mako")

SCATTER = Operator(
    name="Scatter",
    inputs=("X", "I", "U"),
    outputs=("Y",),
    summary="X with elements or slices replaced, or combined, at places that are indexed",
    infer=_infer,
    reference=_reference,
    access=_access,
    tolerance=_tolerance,
    imports=(*IMPORTS, *MAX_UNPOOL),
)

SCATTER_PORTABLE = Kernel(
    name="portable.scatter",
    op="Scatter",
    match=_match,
    requires=_row_major,
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=lambda values: (*c_functions(values["expression"]), _SCATTER),
    call="${function}(${elements}, ${count}, ${slice}, ${X}, ${I}, ${U}, ${Y});",
)

OPERATORS = (SCATTER,)
KERNELS = (SCATTER_PORTABLE,)
