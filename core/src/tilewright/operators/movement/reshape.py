"""Knows Reshape: the same elements in row-major order under another shape. Flatten, Squeeze and Unsqueeze become it.
Does not know shapes that the program computes.

Normal form: input X, attribute `shape` (absent: the declared shape of the output).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Alias, Operator
from tilewright.ir.machines.kernel import Call, Kernel, Operand
from tilewright.ir.tensors.layout import Layout, merge_loops, row_major, same_walk, split_loops
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.movement.copying import COPY_CALL, COPY_INCLUDES, Move, copy_source, copy_values
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Block = tuple[tuple[int, ...], tuple[int, ...]]  # axes of X and axes of Y that hold the same elements


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    shape = site.node.integers("shape", site.output.shape)
    if math.prod(shape) != x.elements or min(shape, default=0) < 0:
        raise shape_error(site, f"{x.elements} elements do not make {list(shape)}")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def blocks(shape: Sequence[int], target: Sequence[int]) -> list[Block]:
    """Neighbouring axes of both shapes, matched from the front into the smallest blocks of equal size.

    Axes of extent 1 are in no block. With an extent of 0 there is one block of everything.
    """
    if 0 in shape:
        return [(tuple(range(len(shape))), tuple(range(len(target))))]
    left = [axis for axis in range(len(shape)) if shape[axis] != 1]
    right = [axis for axis in range(len(target)) if target[axis] != 1]
    matched: list[Block] = []
    while left:
        mine, theirs = [left.pop(0)], [right.pop(0)]
        while (gap := math.prod(shape[a] for a in mine) - math.prod(target[a] for a in theirs)) != 0:
            if gap < 0:
                mine.append(left.pop(0))
            else:
                theirs.append(right.pop(0))
        matched.append((tuple(mine), tuple(theirs)))
    return matched


def _access(site: Site) -> Access:
    """A loop for every axis that only moves. Where axes are joined or split, a loop over the parts that both sides
    have in common along their outermost axes; each part is in one piece.
    """
    shape, target = site.input(0).shape, site.output.shape
    source, result, loops = ["0"] * len(shape), ["0"] * len(target), []
    for number, (mine, theirs) in enumerate(blocks(shape, target)):
        for texts, axes in ((source, mine), (result, theirs)):
            for axis in axes:
                texts[axis] = ":"
        # Equal parts of whole outermost rows into which both sides of a block can be cut; 1: none.
        can_be_cut = mine and theirs and all(shape[axis] for axis in mine)
        parts = math.gcd(shape[mine[0]], target[theirs[0]]) if can_be_cut else 1
        if parts == 1:
            continue
        loops.append(f"a{number}<{parts}")
        for texts, axis, inner, rows in (
            (source, mine[0], f"x{number}", shape[mine[0]] // parts),
            (result, theirs[0], f"y{number}", target[theirs[0]] // parts),
        ):
            texts[axis] = f"a{number}" if rows == 1 else f"{rows}*a{number}+{inner}"
            loops += [f"~{inner}<{rows}"] if rows > 1 else []
    text = f"{' '.join(loops)} : X[{', '.join(source)}] -> Y[{', '.join(result)}]"
    return parse_map(text).bind({"X": shape, "Y": target})


def _alias(site: Site, layouts: Mapping[str, Layout]) -> tuple[Alias, ...]:
    x, y = site.input(0), site.output
    stored = layouts.get(x.name, row_major(len(x.shape)))
    free = same_walk(x.shape, stored, y.shape, layouts[y.name])
    return (Alias(value=y.name, of=x.name),) if free else ()


def _values(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    move = _as_one_copy(x, y)
    if move is not None:
        return {**copy_values(y.dtype, [move]), "nested": True, "element": y.dtype.c_type}
    arguments = ", ".join((" * ".join(y.extents), *_counters(x), *_counters(y), str(x), str(y)))
    function = f"tw_reshape_{y.dtype.value}"
    return {
        "nested": False,
        "function": function,
        "statements": f"{function}({arguments});",
        "element": y.dtype.c_type,
    }


def _as_one_copy(x: Operand, y: Operand) -> Move | None:
    """The nest of loops that copies a tile, or None where strides split an axis at no common place.

    Blocks may be cut along their outermost axes, so that extent is the tile's; the others are whole.
    """
    extents: list[str] = []
    steps: list[list[int]] = [[], []]
    for mine, theirs in blocks(x.shape, y.shape):
        if len(mine) == len(theirs) == 1:
            extents.append(y.extents[theirs[0]])
            steps[0].append(x.strides[mine[0]])
            steps[1].append(y.strides[theirs[0]])
            continue
        walks = [_walk(x, mine), _walk(y, theirs)]
        finest = max(walks, key=lambda loops: len(loops[0]))[0]
        operand, axes = (x, mine) if finest is walks[0][0] else (y, theirs)
        parts = [split_loops(*loops, finest) for loops in walks]
        for whole, part in zip(steps, parts, strict=True):
            if part is None:
                return None
            whole.extend(part)
        extents.extend((_outermost(operand, axes, finest), *(str(extent) for extent in finest[1:])))
    return Move(
        source=str(x),
        target=str(y),
        extents=tuple(extents),
        source_steps=tuple(steps[0]),
        target_steps=tuple(steps[1]),
    )


def _outermost(operand: Operand, axes: Sequence[int], loops: Sequence[int]) -> str:
    """Trips of the outermost of `loops`, which visit `axes` of a tile of the operand."""
    rows, each = operand.extents[axes[0]], math.prod(operand.shape[axis] for axis in axes[1:])
    factor = each // max(math.prod(loops[1:]), 1)
    if rows.isdigit():
        return str(int(rows) * factor)
    return rows if factor == 1 else f"{rows} * {factor}"


def _walk(operand: Operand, axes: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    extents, (steps,) = merge_loops([operand.shape[axis] for axis in axes], ([operand.strides[axis] for axis in axes],))
    return extents, steps


def _counters(operand: Operand) -> tuple[str, str, str]:
    """Rank, extents and strides as C, innermost first."""
    extents = ", ".join(reversed(operand.extents))
    steps = ", ".join(str(step) for step in reversed(operand.strides))
    return str(len(operand.shape)), f"(const int32_t[]){{{extents}}}", f"(const int32_t[]){{{steps}}}"


def _emit(node: OnnxNode, graph: Conversion, shape: Sequence[int]) -> None:
    x = graph.tensor(node.inputs[0])
    if x.shape == tuple(shape):
        graph.rename(node, node.inputs[0])
        return
    if math.prod(shape) != x.elements:
        raise graph.refuse(node, f"{x.elements} elements of {list(x.shape)} do not make {list(shape)}")
    graph.emit(node, "Reshape", node.inputs[:1], node.outputs, {"shape": tuple(shape)})


def _import_reshape(node: OnnxNode, graph: Conversion) -> None:
    x = graph.tensor(node.inputs[0])
    wanted = [int(item) for item in graph.need_constant(node, 1).reshape(-1)]
    keep_zero = node.integer("allowzero") != 0
    if wanted.count(-1) > 1 or min(wanted, default=0) < -1:
        raise graph.refuse(node, f"shape {wanted} is not a shape")
    if keep_zero and 0 in wanted and -1 in wanted:
        raise graph.refuse(node, "with allowzero a shape cannot hold both 0 and -1")
    for axis, extent in enumerate(wanted):
        if extent == 0 and not keep_zero:
            if axis >= len(x.shape):
                raise graph.refuse(node, f"shape {wanted} copies axis {axis}, which {list(x.shape)} does not have")
            wanted[axis] = x.shape[axis]
    if -1 in wanted:
        rest = -math.prod(wanted)
        if rest == 0 or x.elements % rest:
            raise graph.refuse(node, f"no extent for -1 makes {x.elements} elements of {wanted}")
        wanted[wanted.index(-1)] = x.elements // rest
    _emit(node, graph, wanted)


def _import_flatten(node: OnnxNode, graph: Conversion) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    axis = node.integer("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise graph.refuse(node, f"axis {axis} is outside a tensor with {len(shape)} axes")
    axis = axis + len(shape) if axis < 0 else axis
    _emit(node, graph, (math.prod(shape[:axis]), math.prod(shape[axis:])))


def _axes(node: OnnxNode, graph: Conversion, rank: int) -> tuple[int, ...] | None:
    """Axes of Squeeze or Unsqueeze, from the attribute or (opset 13) the input, counted from the front."""
    axes: tuple[int, ...] | None = node.integers("axes") if "axes" in node.attributes else None
    if len(node.inputs) > 1 and node.inputs[1]:
        axes = tuple(int(item) for item in graph.need_constant(node, 1).reshape(-1))
    if axes is None:
        return None
    if any(not -rank <= axis < rank for axis in axes):
        raise graph.refuse(node, f"axes {list(axes)} are not all axes of a tensor with {rank} axes")
    own = tuple(axis % rank for axis in axes)
    if len(set(own)) != len(own):
        raise graph.refuse(node, f"axes {list(axes)} name one axis twice")
    return own


def _import_squeeze(node: OnnxNode, graph: Conversion) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    axes = _axes(node, graph, len(shape))
    if axes is None:
        axes = tuple(axis for axis, extent in enumerate(shape) if extent == 1)
    if any(shape[axis] != 1 for axis in axes):
        raise graph.refuse(node, f"axes {list(axes)} of {list(shape)} are not all of extent 1")
    _emit(node, graph, [extent for axis, extent in enumerate(shape) if axis not in axes])


def _import_unsqueeze(node: OnnxNode, graph: Conversion) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    axes_given = node.integers("axes") if "axes" in node.attributes else None
    count = len(axes_given) if axes_given is not None else graph.need_constant(node, 1).size
    axes = _axes(node, graph, len(shape) + count) or ()
    old = iter(shape)
    _emit(node, graph, [1 if axis in axes else next(old) for axis in range(len(shape) + count)])


_AXES = {"axes": "INTS"}
_WALKED = c_template("${function}", "reshape.c.mako")

RESHAPE = Operator(
    name="Reshape",
    inputs=("X",),
    outputs=("Y",),
    summary="the same elements under another shape",
    infer=_infer,
    reference=lambda site, inputs: (np.asarray(inputs[0]).reshape(site.output.shape).copy(),),
    access=_access,
    alias=_alias,
    imports=with_halves(
        Import(op_type="Reshape", since=5, attributes={}, convert=_import_reshape, max_inputs=2),
        Import(op_type="Reshape", since=14, attributes={"allowzero": "INT"}, convert=_import_reshape, max_inputs=2),
        Import(op_type="Flatten", since=1, attributes={"axis": "INT"}, convert=_import_flatten),
        Import(op_type="Squeeze", since=1, attributes=_AXES, convert=_import_squeeze),
        Import(op_type="Squeeze", since=13, attributes={}, convert=_import_squeeze, max_inputs=2),
        Import(op_type="Unsqueeze", since=1, attributes=_AXES, convert=_import_unsqueeze),
        Import(op_type="Unsqueeze", since=13, attributes={}, convert=_import_unsqueeze, max_inputs=2),
    ),
)

RESHAPE_COPY = Kernel(
    name="portable.reshape",
    op="Reshape",
    parallel=("*",),
    values=_values,
    source=lambda values: copy_source(values) if values["nested"] else (_WALKED,),
    call=COPY_CALL,
    includes=COPY_INCLUDES,
)

OPERATORS = (RESHAPE,)
KERNELS = (RESHAPE_COPY,)
