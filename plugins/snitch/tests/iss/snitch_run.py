"""Knows how to build a kernel for a core of the cluster and execute it on the simulator, over whole operands.
Does not know instructions."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from cluster import TCDM, TCDM_BYTES
from snitch_iss import Core
from streams import FaultError
from timing import CLUSTER, Timing

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
CODE, CODE_BYTES, DATA = 0x8000_0000, 0x40000, TCDM
MACHINE = ("-march=rv32imafd", "-mabi=ilp32d", "-DTW_SNITCH=1")
STACK = 0x8008_0000
STOP = 0x8000_0000 + CODE_BYTES - 8
GCC = (
    *MACHINE, "-O3", "-std=c11", "-ffreestanding", "-nostdlib", "-ffp-contract=off", "-mno-relax",
    "-fno-tree-loop-distribute-patterns", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror",
    f"-Wl,-Ttext={CODE:#x}", "-Wl,--no-warn-rwx-segments", "-Wl,-e,tw_test", "-Wl,--build-id=none",
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
    """One operand's window, as if copied."""

    name: str
    shape: tuple[int, ...]  # of the whole tensor
    array: Array  # by the tensor's axes
    layout: tuple[int, ...]
    window: Window
    place: int


@dataclass(frozen=True)
class Executed:
    """What a kernel gave, and what it took."""

    outputs: tuple[Array, ...]
    instructions: int
    cycles: int
    counts: Mapping[str, int]  # of the float unit, and products
    stalls: int
    sums: Array | None = None  # of a part, as they are in memory


@dataclass(frozen=True)
class Part:
    """A part of a reduction: the sums so far as they are in memory, None at the beginning; whether it is the last."""

    sums: Array | None
    last: bool
    known: bool = True  # whether C has the extent of the part as a number
    in_output: bool = False  # whether sums are where the output is


def kernel_text(kernel: Kernel, call: Call) -> str:
    """A file with the kernel, and `tw_test` that calls it."""
    return "\n".join(
        (
            "#include <stdint.h>\n#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);",
            'static inline int tw_unknown(int v)\n{\n    __asm__("" : "+r"(v));\n    return v;\n}',
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
    layouts: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
    flags: Sequence[str] = GCC,
    timing: Timing = CLUSTER,
    part: Part | None = None,
    opaque: bool = False,
) -> Executed:
    """Execute `kernel` once, over everything or over a box of its loops, and return the windows that it writes.

    Operands are tiles of their own, as if copied, in TCDM. With `part` sums are kept. `opaque`: extents C knows not.
    """
    layer = layer_of(operator, kernel, site)
    trips = {**layer.whole.box, **(box or {})}
    tiles = _tiles(layer, _stored(layer, inputs, layouts), trips)
    extents = {name: str(high - low) for name, (low, high) in trips.items()}
    operands = {name: _opaque(one) if opaque else one for name, one in _operands(layer, tiles, trips).items()}
    inside = part is not None and part.in_output
    call = _of_part(Call(site=layer.site, operands=operands, extents=extents, name="step"), layer, part, len(tiles))
    image, entry = image_of(kernel_text(kernel, call), folder, flags)
    memory = Memory(image)
    for tile in tiles:
        if tile.name not in operator.outputs:
            memory.write(tile.place, np.ascontiguousarray(tile.array.transpose(tile.layout)).tobytes())
    end, room = _end(tiles), tiles[-1].array
    kept = tiles[-1].place if inside else end + align_up(kernel.scratch_bytes(layer.tile(trips)), 16)
    if part is not None and layer.sums is not None:
        room = np.full(room.size, -1, layer.sums.dtype.numpy)
        memory.write(kept, (room if part.sums is None else part.sums).tobytes())
    memory.write(STACK, np.asarray([*(tile.place for tile in tiles), end, kept], np.uint32).tobytes())
    core = called(memory, entry, STACK, timing)
    sums = np.frombuffer(memory.read(kept, room.nbytes), room.dtype) if part is not None else None
    outputs = tuple(_read(memory, tile) for tile in tiles if tile.name in operator.outputs)
    return Executed(outputs, core.instructions, core.finish(), core.floats.counts, core.floats.stalls, sums)


def run_in_parts(
    operator: Operator,
    kernel: Kernel,
    site: Site,
    inputs: Sequence[Array | None],
    folder: Path,
    cuts: Mapping[str, Sequence[int]],
    *,
    known: bool = True,
    in_output: bool = False,
    timing: Timing = CLUSTER,
) -> list[Executed]:
    """The parts of a reduction one after the other; `cuts` has where they begin and end, of one loop."""
    ((loop, ends),) = cuts.items()
    found: list[Executed] = []
    for low, high in pairwise(ends):
        sums = found[-1].sums if found else None
        part = Part(sums, last=high == ends[-1], known=known, in_output=in_output)
        box = {loop: (low, high)}
        found.append(run_on_iss(operator, kernel, site, inputs, folder, box, part=part, timing=timing))
    return found


def _opaque(operand: Operand) -> Operand:
    """With extents that C does not know where they are not the tensor's."""
    if len(operand.shape) != len(operand.extents):
        return operand
    known = [extent == str(size) for extent, size in zip(operand.extents, operand.shape, strict=True)]
    hidden = {
        name: tuple(
            text if ok else f"tw_unknown({text})" for text, ok in zip(getattr(operand, name), known, strict=True)
        )
        for name in ("extents", "origin", "before", "after")
    }
    return replace(operand, **hidden)


def _of_part(call: Call, layer: Layer, part: Part | None, tiles: int) -> Call:
    """The call of a part, where it is one; sums have the output's type, axes and order, and are the last of `tiles`
    or behind scratch.
    """
    if part is None:
        return call
    number = tiles - 1 if part.in_output else tiles + 1
    form, y = layer.sums, call.operands[layer.operator.outputs[0]]
    if form is None:
        raise ValueError(f"{layer.kernel.name} has no parts")
    acc = replace(y, name="acc", pointer=f"(({form.dtype.c_type} *)tw_p[{number}])", dtype=form.dtype)
    extents = call.extents if part.known else {name: f"({extent})" for name, extent in call.extents.items()}
    operands, first = {**call.operands, "acc": acc}, str(int(part.sums is None))
    return replace(call, operands=operands, extents=extents, first=first, last=str(int(part.last)))


def _tiles(layer: Layer, arrays: Mapping[str, Stored], trips: Mapping[str, tuple[int, int]]) -> list[Tile]:
    """What each operand's window holds, one tile after the other in TCDM."""
    tiles: list[Tile] = []
    for name, (array, layout) in arrays.items():
        window = layer.access.window(name, trips)
        part = array[tuple(slice(span.low, span.low + span.extent) for span in window)]
        tiles.append(Tile(name, array.shape, part, layout, window, _end(tiles)))
    return tiles


def _end(tiles: Sequence[Tile]) -> int:
    """Where the next tile begins, and behind the last one the kernel's scratch."""
    return tiles[-1].place + align_up(tiles[-1].array.nbytes, 16) + 16 if tiles else DATA


def _operands(layer: Layer, tiles: Sequence[Tile], trips: Mapping[str, tuple[int, int]]) -> dict[str, Operand]:
    """What the kernel's call is rendered with: places by number in a table, windows as they are."""
    operands = {}
    for number, tile in enumerate(tiles):
        writable = tile.name in layer.operator.outputs
        operands[tile.name] = replace(
            _operand(tile.name, tile.array, tile.layout, number, writable=writable),
            shape=tile.shape,
            extents=tuple(str(span.extent) for span in tile.window),
            origin=tuple(str(span.low) for span in tile.window),
            before=tuple(str(span.before) for span in tile.window),
            after=tuple(str(span.after) for span in tile.window),
        )
    scratch = np.zeros(max(layer.kernel.scratch_bytes(layer.tile(trips)), 1), np.uint8)
    return {**operands, "scratch": _operand("scratch", scratch, (0,), len(tiles), writable=True)}


class Memory:
    """TCDM, and a main memory with the code and the stack."""

    def __init__(self, image: bytes) -> None:
        self.near, self.main = bytearray(TCDM_BYTES), bytearray(0x10_0000)
        self.write(CODE, image)

    def _place(self, address: int, size: int) -> tuple[bytearray, int]:
        near = TCDM <= address <= TCDM + TCDM_BYTES - size
        memory, at = (self.near, address - TCDM) if near else (self.main, address - CODE)
        if not 0 <= at <= len(memory) - size:
            raise FaultError(f"nothing is at {address:#x}")
        return memory, at

    def load(self, address: int, size: int) -> int:
        memory, at = self._place(address, size)
        if at % size:
            raise FaultError(f"{size} bytes at {address:#x}")
        return int.from_bytes(memory[at : at + size], "little")

    def store(self, address: int, size: int, value: int) -> None:
        memory, at = self._place(address, size)
        if at % size:
            raise FaultError(f"{size} bytes at {address:#x}")
        memory[at : at + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def read(self, address: int, size: int) -> bytes:
        memory, at = self._place(address, size)
        return bytes(memory[at : at + size])

    def write(self, address: int, data: bytes) -> None:
        memory, at = self._place(address, len(data))
        memory[at : at + len(data)] = data


def called(memory: Memory, entry: int, argument: int, timing: Timing = CLUSTER, most: int = 50_000_000) -> Core:
    """A core that has called the function at `entry` and returned."""
    core = Core(0, memory.load, memory.store, timing=timing)
    core.far = range(CODE, CODE + CODE_BYTES)
    core.pc, core.x[1], core.x[2], core.x[10] = entry, STOP, STACK - 64, argument
    memory.store(STOP, 4, 0x0000006F)  # jumps to itself
    while core.pc != STOP:
        core.run(1)
        if core.instructions > most:
            raise FaultError(f"more than {most} instructions, at {core.pc:#x}")
    return core


def _stored(layer: Layer, inputs: Sequence[Array | None], chosen: Mapping[str, tuple[int, ...]]) -> dict[str, Stored]:
    """Every operand by its tensor's axes, and the order in which it is stored."""
    site, layouts = layer.site, {**layer.preferred, **layer.required, **chosen}
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


def _read(memory: Memory, tile: Tile) -> Array:
    data = memory.read(tile.place, tile.array.nbytes)
    stored = np.frombuffer(data, tile.array.dtype).reshape([tile.array.shape[axis] for axis in tile.layout])
    result: Array = stored.transpose(np.argsort(tile.layout))
    return result
