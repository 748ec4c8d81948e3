"""Knows Concat: any number of tensors one after the other along an axis.
Does not know quantisation: integer inputs have one scale here, a lookup table before it sees to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_few_operands, with_halves
from tilewright.ir.graphs.operator import Alias, Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.layout import Layout, row_major, same_bytes, strides
from tilewright.operators.c_code.c_elements import c_moved
from tilewright.operators.movement.copying import COPY_CALL, COPY_INCLUDES, Move, copy_source, copy_values
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]


def _axis(site: Site) -> int:
    """The attribute `axis`, counted from the front."""
    return site.node.integer("axis") % max(1, len(site.input(0).shape))


def _starts(site: Site) -> tuple[int, ...]:
    """Where each input begins along the axis."""
    extents = (site.input(index).shape[_axis(site)] for index in range(len(site.inputs)))
    return tuple(accumulate(extents, initial=0))[:-1]


def _infer(site: Site) -> tuple[Tensor, ...]:
    tensors = [site.input(index) for index in range(len(site.inputs))]
    first, axis = tensors[0], site.node.integer("axis")
    if not -len(first.shape) <= axis < len(first.shape):
        raise shape_error(site, f"axis {axis} is not an axis of the inputs")
    axis = _axis(site)
    if any(tensor.dtype is not first.dtype for tensor in tensors):
        raise shape_error(site, "the inputs must have one type")
    if any(_others(tensor.shape, axis) != _others(first.shape, axis) for tensor in tensors):
        raise shape_error(site, f"the inputs must have one shape but for axis {axis}")
    shape = list(first.shape)
    shape[axis] = sum(tensor.shape[axis] for tensor in tensors)
    return (Tensor(name=site.node.outputs[0], dtype=first.dtype, shape=tuple(shape)),)


def _others(shape: Sequence[int], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _access(site: Site) -> Access:
    """Input k is read from its own beginning on; what a tile takes from other inputs lies outside it."""
    axis, loops = _axis(site), [f"a{i}" for i in range(len(site.output.shape))]
    shapes = {f"X{index}": site.input(index).shape for index in range(len(site.inputs))}
    reads = []
    for name, start in zip(shapes, _starts(site), strict=True):
        indices = [f"{loop} - {start}?" if i == axis else loop for i, loop in enumerate(loops)]
        reads.append(f"{name}[{', '.join(indices)}]")
    text = f"{' '.join(loops)} : {' '.join(reads)} -> Y[{', '.join(loops)}]"
    return parse_map(text).bind({**shapes, "Y": site.output.shape})


def _alias(site: Site, layouts: Mapping[str, Layout]) -> tuple[Alias, ...]:
    """Every input inside the output, where the axis is the outermost of those that matter."""
    y, axis = site.output, _axis(site)
    layout = layouts[y.name]
    outermost = next((other for other in layout if y.shape[other] != 1), axis)
    inputs = [site.input(index) for index in range(len(site.inputs))]
    stored = [layouts.get(x.name, row_major(len(x.shape))) for x in inputs]
    if outermost != axis or not all(same_bytes(x.shape, own, layout) for x, own in zip(inputs, stored, strict=True)):
        return ()
    step = strides(y.shape, layout)[axis]
    return tuple(
        Alias(value=x.name, of=y.name, offset=start * step) for x, start in zip(inputs, _starts(site), strict=True)
    )


def _values(call: Call) -> Mapping[str, object]:
    y, axis = call.operands["Y"], _axis(call.site)
    moves = []
    for index, start in enumerate(_starts(call.site)):
        x, step = call.operands[f"X{index}"], y.strides[axis]
        target = c_moved(y, (start * step, "1"), (step, x.origin[axis]), (-step, y.origin[axis]))
        moves.append(
            Move(
                source=str(x),
                target=target,
                extents=x.extents,
                source_steps=x.strides,
                target_steps=y.strides,
                overlaps=index == 0,
            )
        )
    return copy_values(y.dtype, moves)


def _import(node: OnnxNode, graph: Conversion) -> None:
    need_few_operands(node, graph)
    if len(node.inputs) == 1:
        graph.rename(node, node.inputs[0])
        return
    rank = len(graph.tensor(node.inputs[0]).shape)
    axis = node.integer("axis")
    if not -rank <= axis < rank:
        raise graph.refuse(node, f"axis {axis} is not an axis of a tensor with {rank} axes")
    graph.emit(node, "Concat", node.inputs, node.outputs, {"axis": axis % rank})


CONCAT = Operator(
    name="Concat",
    inputs=("X", "..."),
    outputs=("Y",),
    summary="tensors one after the other along an axis",
    infer=_infer,
    reference=lambda site, inputs: (np.concatenate([np.asarray(array) for array in inputs], axis=_axis(site)),),
    access=_access,
    alias=_alias,
    imports=with_halves(
        Import(op_type="Concat", since=4, attributes={"axis": "INT"}, convert=_import, max_inputs=2**31),
    ),
)

CONCAT_COPY = Kernel(
    name="portable.concat",
    op="Concat",
    parallel=("*",),
    shifts=lambda site: (("X0", "Y"),),  # forwards, and before all others
    values=_values,
    source=copy_source,
    call=COPY_CALL,
    includes=COPY_INCLUDES,
)

OPERATORS = (CONCAT,)
KERNELS = (CONCAT_COPY,)
