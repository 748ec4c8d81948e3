"""Knows how to run one kernel tile by tile on this machine, every number of a tile known only at run time.
Does not know how tiles are chosen, nor how a target copies them.

Each tile's windows are copied into near buffers of their own, poisoned before, so that a kernel that reads outside its
window or takes an extent for a constant gives a wrong result.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.access.index_map import Access, Box, Loop, Window
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, Matched, Operand
from tilewright.ir.plans.layer import Layer, layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout, row_major, strides
from tilewright.testing.kernels.fenced_call import LEAST_ALIGN, fenced_call
from tilewright.testing.kernels.kernel_run import POISONS, STRICT, Trial, given_arrays, outcomes, whole_trial
from tilewright.testing.kernels.placed_operands import base_pointers, packed_for

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    """One operand: the whole array, and a buffer with room for its largest tile."""

    name: str
    array: Array  # by the tensor's axes
    buffer: Array  # by the tensor's axes, stored in the layout
    steps: tuple[int, ...]  # of the buffer, in elements


def tile_boxes(access: Access, cuts: Mapping[str, int]) -> Iterator[Box]:
    """Boxes of at most `cuts[loop]` iterations per loop that cover all of them; loops not named are not cut.

    Reductions are innermost.
    """
    loops = sorted(access.loops, key=lambda loop: loop.kind == "reduce")
    names = [loop.name for loop in loops]
    ranges = []
    for loop in loops:
        size = cuts.get(loop.name, 0) or max(loop.extent, 1)
        ranges.append([(low, min(low + size, loop.extent)) for low in range(0, loop.extent, size)])
    for box in product(*ranges):
        yield dict(zip(names, box, strict=True))


def run_tiled(
    operator: Operator,
    kernel: Kernel,
    site: Site,
    inputs: Sequence[Array | None],
    *,
    cuts: Mapping[str, int],
    folder: Path,
    layouts: Mapping[str, Layout] | None = None,
    flags: Sequence[str] = STRICT,
) -> tuple[Array, ...]:
    """Compile `kernel` once, run it on every tile, return its row-major outputs; what no tile writes is poison.

    Where `cuts` has a reduction the kernel is given `acc`, poisoned before the first tile, and writes the output's
    window in the last.
    """
    return outcomes([tiled_trial(layer_of(operator, kernel, site), inputs, cuts=cuts, layouts=layouts)], folder, flags)[
        0
    ]


def tiled_trial(
    layer: Layer,
    inputs: Sequence[Array | None],
    *,
    cuts: Mapping[str, int],
    layouts: Mapping[str, Layout] | None = None,
    align: int = LEAST_ALIGN,
) -> Trial:
    """What `run_tiled` does. What is behind the buffers is out of reach in every second tile, in the others what is
    before them.
    """
    kernel, access = layer.kernel, layer.access
    boxes = list(tile_boxes(access, cuts))
    arrays = _arrays(layer, inputs, boxes)
    reductions = [loop for loop in access.loops if loop.kind == "reduce" and (0 < cuts.get(loop.name, 0) < loop.extent)]
    chosen = {name: layout for name, layout in (layouts or {}).items() if name not in layer.packed}
    tiles = [_near(name, array, chosen.get(name), access, boxes) for name, array in arrays.items()]
    scratch_bytes = max((kernel.scratch_bytes(layer.tile(box)) for box in boxes), default=0)
    call = _call(kernel, layer.site, access, tiles, scratch_bytes)
    sums: Array = np.zeros(0)
    if reductions:
        sums, call = _with_sums(call, layer, tiles, reductions)
    scratch = np.zeros(scratch_bytes, np.uint8)
    buffers = {**{item.name: item.buffer for item in tiles}, "scratch": scratch, "acc": sums}

    def execute(function: object) -> tuple[Array, ...]:
        for number, box in enumerate(boxes):
            scratch[...] = POISONS[number % 2]
            if all(box[loop.name][0] == 0 for loop in reductions):
                sums[...] = _poison(sums.dtype)
            _pack_places(layer, box, tiles, list(buffers))
            _fetch(tiles, access, box)
            values = _values({item.name: access.window(item.name, box) for item in tiles}, box)
            words = (ctypes.c_int32 * max(len(values), 1))(*values)
            fenced_call(function, buffers, words, at_end=number % 2 == 0, align=align, aligns=kernel.align)
            if all(box[loop.name][1] == loop.extent for loop in reductions):
                _store(tiles, access, box)
        return tuple(item.array for item in tiles if item.name in access.outputs)

    return Trial(kernel=kernel, call=call, values=True, execute=execute)


def run_whole_and_tiled(
    operator: Operator,
    kernel: Kernel,
    site: Site,
    inputs: Sequence[Array | None],
    *,
    cuts: Sequence[Mapping[str, int]],
    folder: Path,
    layouts: Mapping[str, Layout] | None = None,
    flags: Sequence[str] = STRICT,
) -> list[tuple[Array, ...]]:
    """What `run_kernel` returns, and `run_tiled` for each of the `cuts`, all of them compiled at once."""
    whole = whole_trial(operator, kernel, site, inputs, layouts=layouts)
    layer = layer_of(operator, kernel, site)
    tiled = [tiled_trial(layer, inputs, cuts=trial_cuts, layouts=layouts) for trial_cuts in cuts]
    return outcomes([whole, *tiled], folder, flags)


def _pack_places(layer: Layer, box: Box, tiles: Sequence[_Near], buffers: Sequence[str]) -> None:
    """Let constants hold the places that operands have in this tile, where the kernel packs such."""
    if layer.kernel.pack_placed is None:
        return
    packed = packed_for(layer, layer.tile(box), buffers[: len(tiles) + 1], {})
    for item in tiles:
        if item.name in packed:
            item.array[...] = packed[item.name]


def _fetch(tiles: Sequence[_Near], access: Access, box: Box) -> None:
    """Poison all buffers, then copy the tile's windows of the inputs into theirs."""
    for item in tiles:
        item.buffer[...] = _poison(item.buffer.dtype)
        if item.name in access.inputs:
            window = access.window(item.name, box)
            item.buffer[_inside(window)] = item.array[_slices(window)]


def _store(tiles: Sequence[_Near], access: Access, box: Box) -> None:
    """Copy the tile's windows of the outputs out of their buffers."""
    for item in tiles:
        if item.name in access.outputs:
            window = access.window(item.name, box)
            item.array[_slices(window)] = item.buffer[_inside(window)]


def _arrays(layer: Layer, inputs: Sequence[Array | None], boxes: Sequence[Box]) -> dict[str, Array]:
    arrays = {**given_arrays(layer, inputs), **layer.packed_for(boxes)}
    for name, tensor in zip(layer.operator.outputs, layer.site.outputs, strict=False):
        arrays[name] = np.full(tensor.shape, _poison(tensor.dtype.numpy))
    return arrays


def _poison(dtype: np.dtype[np.generic]) -> np.generic:
    poison: np.generic = np.full(dtype.itemsize, POISONS[0], np.uint8).view(dtype)[0]
    return poison


def _near(name: str, array: Array, layout: Layout | None, access: Access, boxes: Sequence[Box]) -> _Near:
    layout = row_major(array.ndim) if layout is None else layout
    windows = [access.window(name, box) for box in boxes]
    shape = [max((window[axis].extent for window in windows), default=0) for axis in range(array.ndim)]
    stored = np.empty([shape[axis] for axis in layout], array.dtype)
    return _Near(
        name=name, array=array, buffer=stored.transpose(np.argsort(layout)), steps=strides(shape, layout)
    )  # fmt: skip


def _slices(window: Window) -> tuple[slice, ...]:
    return tuple(slice(span.low, span.low + span.extent) for span in window)


def _inside(window: Window) -> tuple[slice, ...]:
    return tuple(slice(0, span.extent) for span in window)


def _values(windows: Mapping[str, Window], box: Box) -> list[int]:
    """In the order in which `_call` numbers them."""
    values = []
    for window in windows.values():
        for span in window:
            values += [span.extent, span.low, span.before, span.after]
    extents = [high - low for low, high in box.values()]
    return [*values, *extents, *(low for low, _ in box.values())]


def _call(kernel: Kernel, site: Matched, access: Access, tiles: Sequence[_Near], scratch_bytes: int) -> Call:
    operands, used = {}, 0
    for index, item in enumerate(tiles):
        operands[item.name] = _operand(item, f"tw_p[{index}]", used, item.name in access.outputs)
        used += 4 * item.array.ndim
    operands["scratch"] = Operand(
        name="scratch", pointer=f"((uint8_t *)tw_p[{len(tiles)}])", dtype=DType.U8, shape=(scratch_bytes,),
        strides=(1,), extents=(str(scratch_bytes),), origin=("0",), before=("0",), after=("0",),
    )  # fmt: skip
    loops = sorted(access.loops, key=lambda loop: loop.kind == "reduce")  # as `tile_boxes` has them
    extents = {loop.name: f"tw_v[{used + index}]" for index, loop in enumerate(loops)}
    bases = base_pointers(kernel, operands)
    return Call(site=site, operands=operands, extents=extents, name="step", bases=bases)


def _with_sums(call: Call, layer: Layer, tiles: Sequence[_Near], reductions: Sequence[Loop]) -> tuple[Array, Call]:
    """The sums of the largest tile, and the call with them; their axes are in memory in the order of the output's."""
    form, access = layer.sums, layer.access
    if form is None or not {loop.name for loop in reductions} <= set(form.loops):
        raise ValueError(f"{layer.kernel.name} does not split {[loop.name for loop in reductions]}")
    (output,) = (item for item in tiles if item.name in access.outputs)
    layout = tuple(sorted(range(output.buffer.ndim), key=lambda axis: -output.steps[axis]))
    steps = strides(output.buffer.shape, layout)
    acc = replace(
        call.operands[output.name],
        name="acc", pointer=f"(({form.dtype.c_type} *)tw_p[{len(tiles) + 1}])", dtype=form.dtype, strides=steps,
    )  # fmt: skip
    used = sum(4 * item.array.ndim for item in tiles) + len(access.loops)
    lows = {name: f"tw_v[{used + number}]" for number, name in enumerate(call.extents)}
    first = " && ".join(f"{lows[loop.name]} == 0" for loop in reductions)
    last = " && ".join(f"{lows[loop.name]} + {call.extents[loop.name]} == {loop.extent}" for loop in reductions)
    sums = np.zeros(output.buffer.size, form.dtype.numpy)
    return sums, replace(call, operands={**call.operands, "acc": acc}, first=f"({first})", last=f"({last})")


def _operand(item: _Near, slot: str, first: int, writable: bool) -> Operand:
    dtype = DType.from_numpy(item.array.dtype)

    def values(which: int) -> tuple[str, ...]:
        return tuple(f"tw_v[{first + 4 * axis + which}]" for axis in range(item.array.ndim))

    pairs = zip(item.buffer.shape, item.array.shape, values(0), strict=True)
    known = tuple(str(extent) if writable and capacity == extent else value for capacity, extent, value in pairs)
    return Operand(
        name=item.name,
        pointer=f"(({'' if writable else 'const '}{dtype.c_type} *){slot})",
        dtype=dtype,
        shape=item.array.shape,
        strides=item.steps,
        extents=known,  # of an output, along what is not cut: so it is in generated code
        origin=values(1),
        before=values(2),
        after=values(3),
    )
