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


def same_bytes(shape: Sequence[int], layout: Layout, other: Layout) -> bool:
    """True when both layouts put every element at the same place (axes of extent 1 do not matter)."""
    return _significant(shape, layout) == _significant(shape, other)


def transposed(layout: Layout, permutation: Sequence[int]) -> Layout:
    """The layout in which a Transpose by `permutation` of a tensor in `layout` moves nothing."""
    position = {source: target for target, source in enumerate(permutation)}
    return tuple(position[axis] for axis in layout)


def reshaped(shape: Sequence[int], layout: Layout, target: Sequence[int]) -> Layout | None:
    """The layout of `target` in which a Reshape of `shape` stored in `layout` moves nothing; None: there is none."""
    if same_bytes(shape, layout, row_major(len(shape))):
        return row_major(len(target))
    steps = split_loops(*_row_major_walk(shape, layout), target)
    if steps is None:
        return None
    # Where a walk in the target's own order goes is settled; sorting by step gives the order of storage.
    return tuple(sorted(range(len(target)), key=lambda axis: (target[axis] != 1, -steps[axis], axis)))


def same_walk(shape: Sequence[int], layout: Layout, target: Sequence[int], target_layout: Layout) -> bool:
    """True when a Reshape between two stored tensors moves nothing.

    Joined as far as possible, the loops that visit a tensor in row-major order are a normal form of the function
    from an element's number to its place: the innermost step is the place of element 1, its extent the first
    element that is not where this step leads, and so on outwards. Equal normal forms are equal places.
    """
    return 0 in shape or _row_major_walk(shape, layout) == _row_major_walk(target, target_layout)


def split_loops(extents: Sequence[int], steps: Sequence[int], target: Sequence[int]) -> tuple[int, ...] | None:
    """The step of each loop over `target` that together visit what `extents` and `steps` visit; None: impossible.

    Both are outermost first and have the same number of iterations in all. A loop of extent 1 gets step 0.
    """
    split: list[int] = []
    waiting = [(extent, step) for extent, step in zip(extents, steps, strict=True) if extent != 1]
    for wanted in reversed(target):
        if wanted == 1:
            split.append(0)
            continue
        extent, step = waiting.pop() if waiting else (1, 0)
        if wanted == 0 or extent % wanted:
            return None
        split.append(step)
        if extent != wanted:
            waiting.append((extent // wanted, step * wanted))
    return tuple(reversed(split))


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


def _row_major_walk(shape: Sequence[int], layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    extents, (steps,) = merge_loops(shape, (strides(shape, layout),))
    return extents, steps
