"""Knows Softmax on floats along one axis: exp(x - max) / sum, by an exponential of our own.
Does not know the integer form (`qsoftmax`).

Normal form: attribute `axis`, counted from the front; operator sets before 13 flattened to a matrix first, which
Reshape nodes do now. A NaN, or an infinite largest element, makes its whole row NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.access import Access, parse_map
from tilewright.dtypes import DType
from tilewright.frontend.importing import Conversion, Import, OnnxNode
from tilewright.graph import Site, Tensor
from tilewright.kernel import Call, Kernel
from tilewright.operator import Operator
from tilewright.operators.c_source import c_source
from tilewright.operators.float_error import TINY, UNIT
from tilewright.operators.import_checks import need_axis, need_types
from tilewright.operators.nest import NEST, nest
from tilewright.operators.shape_errors import shape_error
from tilewright.operators.walk import walk

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]


def _axis(site: Site) -> int:
    return site.node.integer("axis")


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if not 0 <= _axis(site) < len(x.shape):
        raise shape_error(site, f"there is no axis {_axis(site)}")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _distances(site: Site, inputs: Sequence[Array | None]) -> Doubles:
    """x - max, exact."""
    x = np.asarray(inputs[0], np.float64)
    with np.errstate(invalid="ignore"):
        distances: Doubles = x - np.max(x, axis=_axis(site), keepdims=True, initial=-np.inf)
    return distances


def _exact(distances: Doubles, axis: int) -> Doubles:
    powers = np.exp(distances)
    result: Doubles = powers / np.sum(powers, axis=axis, keepdims=True)
    return result


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (_exact(_distances(site, inputs), _axis(site)).astype(np.float32),)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """Relative: the rounding of x - max (as large as the distance, in units u) in both terms, exp, sum, quotient."""
    distances, axis = _distances(site, inputs), _axis(site)
    exact = _exact(distances, axis)
    spread = np.where(exact > 0, np.abs(np.where(exact > 0, distances, 0.0)), 0.0)
    mean_spread = np.sum(exact * spread, axis=axis, keepdims=True)
    relative = UNIT * (spread + mean_spread + 8 * np.sqrt(distances.shape[axis]) + 8)
    return (relative * exact + 4 * TINY,)


def _access(site: Site) -> Access:
    x = site.input(0).shape
    loops = [f"i{axis}" for axis in range(len(x))]
    indices = ",".join(":" if axis == _axis(site) else loop for axis, loop in enumerate(loops))
    outer = " ".join(loop for axis, loop in enumerate(loops) if axis != _axis(site))
    return parse_map(f"{outer} : X[{indices}] -> Y[{indices}]").bind({"X": x, "Y": site.output.shape})


def _accepts(site: Site) -> str | None:
    return None if site.input(0).dtype is DType.F32 else f"X must be f32, found {site.input(0).dtype.value}"


def _values(call: Call) -> Mapping[str, object]:
    x, y, axis = call.operands["X"], call.operands["Y"], _axis(call.site)
    others = [index for index in range(len(y.shape)) if index != axis]
    rows = walk(
        [y.extents[index] for index in others],
        {"X": [x.strides[index] for index in others], "Y": [y.strides[index] for index in others]},
        "Y",
    )
    outer = nest(rows, 0)
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "count": y.extents[axis],
        "x_step": x.strides[axis],
        "y_step": y.strides[axis],
    }


def _import_13(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32)
    axis = need_axis(node, graph, node.integer("axis", -1), len(graph.tensor(node.inputs[0]).shape))
    graph.emit(node, "Softmax", node.inputs, node.outputs, {"axis": axis})


def _import_1(node: OnnxNode, graph: Conversion) -> None:
    """All axes from `axis` on are one row."""
    need_types(node, graph, DType.F32)
    shape = graph.tensor(node.inputs[0]).shape
    axis = need_axis(node, graph, node.integer("axis", 1), len(shape))
    if axis == len(shape) - 1:
        graph.emit(node, "Softmax", node.inputs, node.outputs, {"axis": axis})
        return
    rows, row = int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))
    flat = graph.emit(node, "Reshape", node.inputs, (), {"shape": (rows, row)}, "flat")
    result = graph.emit(node, "Softmax", (flat,), (), {"axis": 1}, "rows")
    graph.emit(node, "Reshape", (result,), node.outputs, {"shape": shape})


SOFTMAX = Operator(
    name="Softmax",
    inputs=("X",),
    outputs=("Y",),
    summary="exp(x - max) / sum along one axis",
    infer=_infer,
    reference=_reference,
    access=_access,
    tolerance=_tolerance,
    imports=(
        Import(op_type="Softmax", since=1, attributes={"axis": "INT"}, convert=_import_1),
        Import(op_type="Softmax", since=13, attributes={"axis": "INT"}, convert=_import_13),
    ),
)

SOFTMAX_F32 = Kernel(
    name="portable.softmax_f32",
    op="Softmax",
    accepts=_accepts,
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=c_source("functions.c") + c_source("softmax.c"),
    call=NEST + 'tw_softmax_f32(${count}, ${X}${at["X"]}, ${x_step}, ${Y}${at["Y"]}, ${y_step});',
    includes=("<stdint.h>", "<math.h>"),
)

OPERATORS = (SOFTMAX,)
KERNELS = (SOFTMAX_F32,)
