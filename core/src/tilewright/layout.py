"""Knows in which order a tensor's axes are stored, the strides that follow, and how loops merge.
Does not know which order is chosen, or why.

A layout is a permutation of a tensor's axes, outermost first: (0, 1, 2, 3) is row-major, and
(0, 2, 3, 1) stores an NCHW tensor channels-last. Every tensor is dense in its layout, so a
Transpose is only another layout of the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

Layout = tuple[int, ...]


def row_major(rank: int) -> Layout:
    """The layout of ONNX tensors."""
    return tuple(range(rank))


def channels_last(rank: int) -> Layout:
    """Axis 1 innermost: what image kernels read fastest. Row-major below rank 3."""
    return (0, *range(2, rank), 1) if rank > 2 else row_major(rank)


def strides(shape: Sequence[int], layout: Layout) -> tuple[int, ...]:
    """Elements between neighbours along each axis of `shape`."""
    steps = [0] * len(shape)
    step = 1
    for axis in reversed(layout):
        steps[axis] = step
        step *= shape[axis]
    return tuple(steps)


def same_bytes(shape: Sequence[int], one: Layout, other: Layout) -> bool:
    """True when both layouts put every element at the same place (axes of extent 1 do not matter)."""
    return _significant(shape, one) == _significant(shape, other)


def transposed(layout: Layout, permutation: Sequence[int]) -> Layout:
    """The layout in which a Transpose by `permutation` of a tensor in `layout` moves nothing."""
    position = {source: target for target, source in enumerate(permutation)}
    return tuple(position[axis] for axis in layout)


def reshaped(shape: Sequence[int], layout: Layout, target: Sequence[int]) -> Layout | None:
    """The layout of `target` in which a Reshape of `shape` stored in `layout` moves nothing; None: there is none."""
    if same_bytes(shape, layout, row_major(len(shape))):
        return row_major(len(target))
    long = [axis for axis in range(len(shape)) if shape[axis] != 1]
    long_target = [axis for axis in range(len(target)) if target[axis] != 1]
    if [shape[axis] for axis in long] != [target[axis] for axis in long_target]:
        return None
    moved = dict(zip(long, long_target, strict=True))
    unit = [axis for axis in range(len(target)) if target[axis] == 1]
    return (*unit, *(moved[axis] for axis in layout if axis in moved))


def merge_loops(
    extents: Sequence[int], operands: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Drop loops of extent 1 and join neighbours that every operand walks without a gap.

    `extents[i]` is loop i's trip count, outermost first; `operands[j][i]` is how far operand j
    moves when loop i advances (0 for a broadcast). Returns the same, with as few loops as possible.
    """
    loops: list[tuple[int, tuple[int, ...]]] = []
    for index, extent in enumerate(extents):
        steps = tuple(operand[index] for operand in operands)
        if extent == 1:
            continue
        if loops and all(outer == inner * extent for outer, inner in zip(loops[-1][1], steps, strict=True)):
            loops[-1] = (loops[-1][0] * extent, steps)
        else:
            loops.append((extent, steps))
    if not loops:
        loops = [(1, tuple(0 for _ in operands))]
    merged = tuple(tuple(steps[j] for _, steps in loops) for j in range(len(operands)))
    return tuple(extent for extent, _ in loops), merged


def _significant(shape: Sequence[int], layout: Layout) -> Layout:
    return tuple(axis for axis in layout if shape[axis] != 1)
