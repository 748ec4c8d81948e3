"""Knows how to build a kernel for a core of the cluster and execute it on the simulator, over whole operands.
Does not know instructions."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from xpulp_iss import Machine

from tilewright.api import align_up
from tilewright.c_text.rendering import render_call, render_source
from tilewright.emit.ctree import print_code
from tilewright.ir.access.index_map import Window
from tilewright.ir.code_fragments import ordered
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, Operand
from tilewright.ir.plans.layer import Layer, layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import row_major, strides
from tilewright.operators.c_code.c_source import c_fragment

Array = npt.NDArray[np.generic]
Stored = tuple[Array, tuple[int, ...]]  # by the tensor's axes, and the order in which these are in memory
CODE, DATA, SIZE = 0x1000, 0x40000, 0x400000
MACHINE = ("-march=rv32imf", "-mabi=ilp32f", "-DTW_XPULP")
GCC = (
    *MACHINE, "-O3", "-std=c11", "-ffreestanding", "-nostdlib", "-ffp-contract=off", "-mno-relax",
    "-fno-tree-loop-distribute-patterns", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror",
    f"-Wl,-Ttext={CODE:#x}", "-Wl,-e,tw_test", "-Wl,--build-id=none",
)  # fmt: skip
LIBRARY = """
void *memcpy(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i) {
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    }
    return to;
}
"""


@dataclass(frozen=True)
class Tile:
    """One operand's window, as if copied; or the whole operand (`whole`), of which the kernel sees the window."""

    name: str
    shape: tuple[int, ...]  # of the whole tensor
    array: Array  # by the tensor's axes
    layout: tuple[int, ...]
    window: Window
    whole: bool
    place: int


@dataclass(frozen=True)
class Executed:
    """What a kernel gave, and what it took."""

    outputs: tuple[Array, ...]
    instructions: int
    cycles: int
    counts: Mapping[str, int]
    sums: Array  # of a part, as they are in memory


def kernel_text(kernel: Kernel, call: Call) -> str:
    """A file with the kernel, and `tw_test` that calls it."""
    return "\n".join(
        (
            "#include <stdint.h>\n#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);",
            '#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf("")',
            *(section.text for section in ordered((c_fragment("prelude.h"), *render_source(kernel, call)))),
            "void tw_test(void *const *tw_p);\nvoid tw_test(void *const *tw_p)\n{",
            *print_code(render_call(kernel, call), 120),
            "}",
            LIBRARY,
        )
    )


def image_of(text: str, folder: Path, flags: Sequence[str] = GCC) -> tuple[bytes, int]:
    """The program's bytes from `CODE` on, and the address of `tw_test`."""
    source, program, image = folder / "kernel.c", folder / "kernel.elf", folder / "kernel.bin"
    source.write_text(text, encoding="ascii")
    subprocess.run(["riscv64-unknown-elf-gcc", *flags, "-o", program, source], check=True)
    subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", program, image], check=True)
    names = subprocess.run(["riscv64-unknown-elf-nm", program], check=True, capture_output=True, text=True).stdout
    entry = next(int(line.split()[0], 16) for line in names.splitlines() if line.endswith(" tw_test"))
    return image.read_bytes(), entry


def run_on_iss(
    operator: Operator,
    kernel: Kernel,
    site: Site,
    inputs: Sequence[Array | None],
    folder: Path,
    box: Mapping[str, tuple[int, int]] | None = None,
    *,
    part: str = "",
    sums: Array | None = None,
    gaps: bool = False,
) -> Executed:
    """Execute `kernel` once, over everything or over a box of its loops, and return the windows that it writes.

    Operands are tiles of their own, as if copied; with `gaps`, inputs stay in place. `part` is "first", "middle" or
    "last" where the box is a part of a reduction; `sums` are those of the part before, zeros if there are none.
    """
    layer = layer_of(operator, kernel, site)
    trips = {**layer.whole.box, **(box or {})}
    tiles = _tiles(layer, _stored(layer, inputs), trips, gaps=gaps)
    operands = _operands(layer, tiles, trips, part)
    extents = {name: str(high - low) for name, (low, high) in trips.items()}
    ends = {"first": str(int(part == "first")), "last": str(int(part == "last"))} if part else {}
    text = kernel_text(kernel, Call(site=layer.site, operands=operands, extents=extents, name="step", **ends))
    image, entry = image_of(text, folder)
    machine = Machine(bytearray(SIZE))
    _write(machine, CODE, image)
    for tile in tiles:
        if tile.name not in operator.outputs:
            _write(machine, tile.place, np.ascontiguousarray(tile.array.transpose(tile.layout)).tobytes())
    sums_at = align_up(_end(tiles) + operands["scratch"].shape[0] + 1, 16)
    if sums is not None:
        _write(machine, sums_at, sums.tobytes())
    table = np.asarray([*(tile.place for tile in tiles), _end(tiles), sums_at], np.uint32).tobytes()
    _write(machine, DATA - len(table), table)
    machine.run(entry, (DATA - len(table),))
    outputs = tuple(_read(machine, tile) for tile in tiles if tile.name in operator.outputs)
    kept = layer.sums.dtype.numpy if layer.sums and part else np.int32
    found = np.frombuffer(bytes(machine.memory[sums_at:]), kept, outputs[0].size)
    return Executed(outputs, machine.instructions, machine.cycles, machine.executed, found)


def _tiles(
    layer: Layer, arrays: Mapping[str, Stored], trips: Mapping[str, tuple[int, int]], *, gaps: bool
) -> list[Tile]:
    """One after the other in memory: what each operand's window holds, or the whole operand around it."""
    tiles: list[Tile] = []
    for name, (array, layout) in arrays.items():
        window = layer.access.window(name, trips)
        whole = gaps and name not in layer.operator.outputs
        part = array if whole else array[tuple(slice(span.low, span.low + span.extent) for span in window)]
        tiles.append(Tile(name, array.shape, part, layout, window, whole, _end(tiles)))
    return tiles


def _end(tiles: Sequence[Tile]) -> int:
    """Where the next tile begins, and behind the last one the kernel's scratch."""
    return tiles[-1].place + align_up(tiles[-1].array.nbytes, 16) + 16 if tiles else DATA


def _operands(
    layer: Layer, tiles: Sequence[Tile], trips: Mapping[str, tuple[int, int]], part: str
) -> dict[str, Operand]:
    """What the kernel's call is rendered with: places by number in a table, windows as they are."""
    operands = {}
    for number, tile in enumerate(tiles):
        operand = _operand(tile.name, tile.array, tile.layout, number, writable=tile.name in layer.operator.outputs)
        skipped = sum(span.low * step for span, step in zip(tile.window, operand.strides, strict=True))
        operands[tile.name] = replace(
            operand,
            shape=tile.shape,
            pointer=f"({operand.pointer} + {skipped if tile.whole else 0})",
            extents=tuple(str(span.extent) for span in tile.window),
            origin=tuple(str(span.low) for span in tile.window),
            before=tuple(str(span.before) for span in tile.window),
            after=tuple(str(span.after) for span in tile.window),
        )
    scratch = np.zeros(max(layer.kernel.scratch_bytes(layer.tile(trips)), 1), np.uint8)
    operands["scratch"] = _operand("scratch", scratch, (0,), len(tiles), writable=True)
    if part and (form := layer.sums):
        pointer = f"(({form.dtype.c_type} *)tw_p[{len(tiles) + 1}])"
        operands["acc"] = replace(operands[layer.operator.outputs[0]], name="acc", dtype=form.dtype, pointer=pointer)
    return operands


def _write(machine: Machine, place: int, data: bytes) -> None:
    machine.memory[place : place + len(data)] = data


def _stored(layer: Layer, inputs: Sequence[Array | None]) -> dict[str, Stored]:
    """Every operand by its tensor's axes, and the order in which it is stored."""
    site, layouts = layer.site, {**layer.preferred, **layer.required}
    values = {tensor.name: array for tensor, array in zip(site.inputs, inputs, strict=True) if tensor is not None}
    arrays: dict[str, Array] = {
        source.operand: np.asarray(values[source.tensor] if source.tensor else layer.packed[source.operand])
        for source in layer.sources(site)
    }
    for name, tensor in zip(layer.operator.outputs, site.outputs, strict=False):
        arrays[name] = np.zeros(tensor.shape, tensor.dtype.numpy)
    return {name: (array, tuple(layouts.get(name, row_major(array.ndim)))) for name, array in arrays.items()}


def _operand(name: str, array: Array, layout: Sequence[int], index: int, *, writable: bool) -> Operand:
    dtype = DType.from_numpy(array.dtype)
    nothing = ("0",) * array.ndim
    return Operand(
        name=name, pointer=f"(({'' if writable else 'const '}{dtype.c_type} *)tw_p[{index}])", dtype=dtype,
        shape=array.shape, strides=strides(array.shape, tuple(layout)), extents=tuple(map(str, array.shape)),
        origin=nothing, before=nothing, after=nothing,
    )  # fmt: skip


def _read(machine: Machine, tile: Tile) -> Array:
    data = bytes(machine.memory[tile.place : tile.place + tile.array.nbytes])
    stored = np.frombuffer(data, tile.array.dtype).reshape([tile.array.shape[axis] for axis in tile.layout])
    result: Array = stored.transpose(np.argsort(tile.layout))
    return result
