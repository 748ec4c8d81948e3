"""Knows Softmax and LogSoftmax on floats along one axis, by an exponential and a logarithm of our own.
Does not know the integer form (`qsoftmax`).

Normal form: attribute `axis`, counted from the front; operator sets before 13 flattened to a matrix first, which
Reshape nodes do now. A NaN, or an infinite largest element, makes its whole row NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.shared.elementwise import same_as_x_along_axis
from tilewright.operators.shared.float_results import TINY, UNIT
from tilewright.operators.shared.refusals import need_axis, need_types, not_float32

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]
_BY_AXIS = 13  # the operator set from which `axis` is one axis; before, all from it on


def _distances(site: Site, inputs: Sequence[Array | None]) -> Doubles:
    """x - max, exact."""
    x = np.asarray(inputs[0], np.float64)
    with np.errstate(invalid="ignore"):
        distances: Doubles = x - np.max(x, axis=site.node.integer("axis"), keepdims=True, initial=-np.inf)
    return distances


def _exact(distances: Doubles, axis: int) -> Doubles:
    powers = np.exp(distances)
    result: Doubles = powers / np.sum(powers, axis=axis, keepdims=True)
    return result


def _exact_log(distances: Doubles, axis: int) -> Doubles:
    result: Doubles = distances - np.log(np.sum(np.exp(distances), axis=axis, keepdims=True))
    return result


def _sum_error(distances: Doubles, axis: int) -> Doubles:
    """Largest relative error of sum(exp(x - max)): each x - max is rounded, each exp is 2 ULP off, and the sum."""
    exact = _exact(distances, axis)
    spread = np.abs(np.where(exact > 0, distances, 0.0))
    result: Doubles = UNIT * (np.sum(exact * spread, axis=axis, keepdims=True) + 8 * np.sqrt(distances.shape[axis]) + 4)
    return result


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """Relative: exp of a rounded x - max, the sum, the quotient."""
    distances, axis = _distances(site, inputs), site.node.integer("axis")
    exact = _exact(distances, axis)
    spread = np.abs(np.where(exact > 0, distances, 0.0))
    return ((UNIT * (spread + 8) + _sum_error(distances, axis)) * exact + 4 * TINY,)


def _log_softmax(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    exact = _exact_log(_distances(site, inputs), site.node.integer("axis"))
    with np.errstate(over="ignore"):  # two values of x may be further apart than float32 reaches
        return (exact.astype(np.float32),)


def _log_tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """Absolute: the rounding of x - max, the relative error of the sum, its logarithm (4 ULP), the difference."""
    distances, axis = _distances(site, inputs), site.node.integer("axis")
    exact = _exact_log(distances, axis)
    with np.errstate(invalid="ignore"):  # infinite in both
        rounding = np.abs(distances) + 8 * np.abs(distances - exact) + np.abs(exact)
    return (UNIT * rounding + _sum_error(distances, axis) + 4 * TINY,)


def _access(site: Site) -> Access:
    x = site.input(0).shape
    loops = [f"i{axis}" for axis in range(len(x))]
    indices = ",".join(":" if axis == site.node.integer("axis") else loop for axis, loop in enumerate(loops))
    outer = " ".join(loop for axis, loop in enumerate(loops) if axis != site.node.integer("axis"))
    return parse_map(f"{outer} : X[{indices}] -> Y[{indices}]").bind({"X": x, "Y": site.output.shape})


def _values(call: Call) -> Mapping[str, object]:
    x, y, axis = call.operands["X"], call.operands["Y"], call.site.node.integer("axis")
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


def _import(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32)
    if node.version >= _BY_AXIS:
        graph.emit(node, node.op_type, node.inputs, node.outputs, {"axis": _own_axis(node, graph, -1)})
        return
    shape = graph.tensor(node.inputs[0]).shape
    axis = _own_axis(node, graph, 1)
    if axis == len(shape) - 1:
        graph.emit(node, node.op_type, node.inputs, node.outputs, {"axis": axis})
        return
    # All axes from `axis` on are one row.
    rows, row = math.prod(shape[:axis]), math.prod(shape[axis:])
    flat = graph.emit(node, "Reshape", node.inputs, (), {"shape": (rows, row)}, "flat")
    result = graph.emit(node, node.op_type, (flat,), (), {"axis": 1}, "rows")
    graph.emit(node, "Reshape", (result,), node.outputs, {"shape": shape})


def _own_axis(node: OnnxNode, graph: Conversion, default: int) -> int:
    return need_axis(node, graph, node.integer("axis", default), len(graph.tensor(node.inputs[0]).shape))


def _operator(
    name: str,
    summary: str,
    reference: Callable[[Site, Sequence[Array | None]], tuple[Array, ...]],
    tolerance: Callable[[Site, Sequence[Array | None]], tuple[Array | None, ...]],
) -> Operator:
    return Operator(
        name=name,
        inputs=("X",),
        outputs=("Y",),
        summary=summary,
        infer=same_as_x_along_axis,
        reference=reference,
        access=_access,
        tolerance=tolerance,
        imports=(Import(op_type=name, since=1, attributes={"axis": "INT"}, convert=_import),),
    )


def _kernel(op: str, name: str) -> Kernel:
    return Kernel(
        name=f"portable.{name}_f32",
        op=op,
        parallel=("*",),
        match=not_float32,
        in_place=lambda site: (("X", "Y"),),
        values=_values,
        source=(c_fragment(f"{name}.c"),),
        call=NEST + f"tw_{name}_f32" + '(${count}, ${X}${at["X"]}, ${x_step}, ${Y}${at["Y"]}, ${y_step});',
        includes=("<stdint.h>", "<math.h>"),
    )


SOFTMAX = _operator(
    "Softmax",
    "exp(x - max) / sum along one axis",
    lambda site, inputs: (_exact(_distances(site, inputs), site.node.integer("axis")).astype(np.float32),),
    _tolerance,
)
LOG_SOFTMAX = _operator(
    "LogSoftmax",
    "logarithm of Softmax",
    _log_softmax,
    _log_tolerance,
)

SOFTMAX_F32 = _kernel("Softmax", "softmax")
LOG_SOFTMAX_F32 = _kernel("LogSoftmax", "log_softmax")

OPERATORS = (SOFTMAX, LOG_SOFTMAX)
KERNELS = (SOFTMAX_F32, LOG_SOFTMAX_F32)
