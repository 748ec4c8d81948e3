"""Knows Slice: every steps[i]-th element of axis i from starts[i] on. Split becomes several of them.
Does not know slices whose bounds the program computes.

Normal form: `starts` and `steps` have one entry per axis, `shape` is the output's; every element is inside X.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Alias, Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.layout import Layout, row_major, strides
from tilewright.operators.c_code.c_elements import c_moved
from tilewright.operators.movement.copying import COPY_CALL, COPY_INCLUDES, Move, copy_source, copy_values
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]


def _starts(site: Site) -> tuple[int, ...]:
    return site.node.integers("starts")


def _steps(site: Site) -> tuple[int, ...]:
    return site.node.integers("steps")


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, shape = site.input(0), site.node.integers("shape")
    if not len(_starts(site)) == len(_steps(site)) == len(shape) == len(x.shape):
        raise shape_error(site, "starts, steps and shape have one entry per axis")
    for start, step, extent, available in zip(_starts(site), _steps(site), shape, x.shape, strict=True):
        if extent and not (0 <= start < available and 0 <= start + (extent - 1) * step < available):
            raise shape_error(site, "the slice leaves its input")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    y = np.asarray(inputs[0])
    for axis, (start, step, extent) in enumerate(zip(_starts(site), _steps(site), site.output.shape, strict=True)):
        y = np.take(y, start + step * np.arange(extent), axis=axis)
    return (y.copy(),)


def _access(site: Site) -> Access:
    loops = [f"a{axis}" for axis in range(len(site.output.shape))]
    cuts = zip(_starts(site), _steps(site), loops, strict=True)
    source = ", ".join(f"{start} + {step}*{loop}" for start, step, loop in cuts)
    text = f"{' '.join(loops)} : X[{source}] -> Y[{', '.join(loops)}]"
    return parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape})


def _alias(site: Site, layouts: Mapping[str, Layout]) -> tuple[Alias, ...]:
    """The output inside the input, where stepping through X is how Y is stored anyway."""
    x, y = site.input(0), site.output
    own, stored = strides(y.shape, layouts[y.name]), strides(x.shape, layouts.get(x.name, row_major(len(x.shape))))
    for extent, step, mine, theirs in zip(y.shape, _steps(site), own, stored, strict=True):
        if extent != 1 and step * theirs != mine:
            return ()
    offset = sum(start * stride for start, stride in zip(_starts(site), stored, strict=True)) if y.elements else 0
    return (Alias(value=y.name, of=x.name, offset=offset),)


def _values(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    terms = []
    for axis, (start, step) in enumerate(zip(_starts(call.site), _steps(call.site), strict=True)):
        stride = x.strides[axis]
        terms += [(start * stride, "1"), (step * stride, y.origin[axis]), (-stride, x.origin[axis])]
    steps = tuple(step * stride for step, stride in zip(_steps(call.site), x.strides, strict=True))
    source = c_moved(x, *terms)
    move = Move(source=source, target=str(y), extents=y.extents, source_steps=steps, target_steps=y.strides)
    return copy_values(y.dtype, [move])


def slice_attributes(
    shape: Sequence[int], axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], steps: Sequence[int]
) -> Mapping[str, Attribute]:
    """ONNX bounds (negative from the end, clamped) as the normal form's attributes. `axes` are not negative."""
    first, pace, extents = [0] * len(shape), [1] * len(shape), list(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        bounds = _visited(shape[axis], start, end, step)
        first[axis], pace[axis], extents[axis] = (bounds.start if bounds else 0), step, len(bounds)
    return {"starts": tuple(first), "steps": tuple(pace), "shape": tuple(extents)}


def _visited(extent: int, start: int, end: int, step: int) -> range:
    """The positions of one axis. Backwards, a start before the first element becomes the first, unlike in numpy."""
    start, end = (bound + extent if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return range(max(start, 0), min(end, extent), step)
    return range(min(max(start, 0), extent - 1), max(end, -1), step)


def _emit(
    node: OnnxNode, graph: Conversion, bounds: Sequence[Sequence[int]], axes: Sequence[int], steps: Sequence[int]
) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    starts, ends = bounds
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise graph.refuse(node, "starts, ends, axes and steps differ in length")
    if any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise graph.refuse(node, f"axes {list(axes)} are not all axes of a tensor with {len(shape)} axes")
    own = [axis % len(shape) for axis in axes]
    if len(set(own)) != len(own):
        raise graph.refuse(node, f"axes {list(axes)} name one axis twice")
    if 0 in steps:
        raise graph.refuse(node, "a step is 0")
    attributes = slice_attributes(shape, own, starts, ends, steps)
    if attributes["shape"] == shape and all(step > 0 for step in steps):
        graph.rename(node, node.inputs[0])
        return
    graph.emit(node, "Slice", node.inputs[:1], node.outputs, attributes)


def _import_attributes(node: OnnxNode, graph: Conversion) -> None:
    starts, ends = node.integers("starts"), node.integers("ends")
    _emit(node, graph, (starts, ends), node.integers("axes", tuple(range(len(starts)))), (1,) * len(starts))


def _import_inputs(node: OnnxNode, graph: Conversion) -> None:
    bounds = [
        tuple(int(item) for item in graph.need_constant(node, index).reshape(-1))
        if index < len(node.inputs) and node.inputs[index]
        else None
        for index in range(1, 5)
    ]
    starts, ends = bounds[0] or (), bounds[1] or ()
    axes = tuple(range(len(starts))) if bounds[2] is None else bounds[2]
    _emit(node, graph, (starts, ends), axes, (1,) * len(starts) if bounds[3] is None else bounds[3])


def _import_split(node: OnnxNode, graph: Conversion) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    axis = node.integer("axis")
    if not -len(shape) <= axis < len(shape):
        raise graph.refuse(node, f"axis {axis} is not an axis of a tensor with {len(shape)} axes")
    axis %= len(shape)
    start = 0
    for index, extent in enumerate(_parts(node, graph, shape[axis])):
        attributes = slice_attributes(shape, (axis,), (start,), (start + extent,), (1,))
        start += extent
        if node.outputs[index]:
            graph.emit(node, "Slice", node.inputs[:1], (node.outputs[index],), attributes, hint=str(index))


def _parts(node: OnnxNode, graph: Conversion, extent: int) -> tuple[int, ...]:
    """Extents of the outputs of a Split: as given, or equal with a smaller last one (opset 18)."""
    count = len(node.outputs)
    parts: tuple[int, ...] = node.integers("split")
    if len(node.inputs) > 1 and node.inputs[1]:
        parts = tuple(int(item) for item in graph.need_constant(node, 1).reshape(-1))
    if not parts:
        if extent % count and node.version < 18:
            raise graph.refuse(node, f"{extent} elements cannot be split into {count} equal parts")
        part = ceil_div(extent, count)
        parts = tuple(max(0, min(part, extent - index * part)) for index in range(count))
    if sum(parts) != extent or len(parts) != count or min(parts) < 0:
        raise graph.refuse(node, f"parts {list(parts)} are not {count} parts of {extent} elements")
    return parts


_BOUNDS = {"starts": "INTS", "ends": "INTS", "axes": "INTS"}

SLICE = Operator(
    name="Slice",
    inputs=("X",),
    outputs=("Y",),
    summary="a part of a tensor, with steps forwards or backwards",
    infer=_infer,
    reference=_reference,
    access=_access,
    alias=_alias,
    imports=with_halves(
        Import(op_type="Slice", since=1, attributes=_BOUNDS, convert=_import_attributes),
        Import(op_type="Slice", since=10, attributes={}, convert=_import_inputs, min_inputs=3, max_inputs=5),
        Import(op_type="Split", since=2, attributes={"axis": "INT", "split": "INTS"}, convert=_import_split),
        Import(op_type="Split", since=13, attributes={"axis": "INT"}, convert=_import_split, max_inputs=2),
        Import(
            op_type="Split",
            since=18,
            attributes={"axis": "INT", "num_outputs": "INT"},
            convert=_import_split,
            max_inputs=2,
        ),
    ),
)

SLICE_COPY = Kernel(
    name="portable.slice",
    op="Slice",
    parallel=("*",),
    values=_values,
    source=copy_source,
    call=COPY_CALL,
    includes=COPY_INCLUDES,
)

OPERATORS = (SLICE,)
KERNELS = (SLICE_COPY,)
