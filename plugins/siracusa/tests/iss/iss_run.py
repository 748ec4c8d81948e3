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
from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Site
from tilewright.ir.kernel import Call, Kernel, Operand
from tilewright.ir.layer import Layer, layer_of
from tilewright.ir.layout import row_major, strides
from tilewright.ir.operator import Operator
from tilewright.ir.sections import ordered
from tilewright.operators.c_source import c_section

Array = npt.NDArray[np.generic]
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
            *(section.text for section in ordered((c_section("prelude.h"), *render_source(kernel, call)))),
            "void tw_test(void *const *tw_p);\nvoid tw_test(void *const *tw_p)\n{",
            str(render_call(kernel, call)),
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
    access, trips = layer.access, {**layer.whole.box, **(box or {})}
    arrays = _stored(layer, inputs)
    operands, places, at = {}, [], DATA
    windows = {name: access.window(name, trips) for name in arrays}
    whole = {name for name in arrays if gaps and name not in operator.outputs}
    arrays = {
        name: (
            array if name in whole else array[tuple(slice(at.low, at.low + at.extent) for at in windows[name])],
            layout,
        )
        for name, (array, layout) in arrays.items()
    }
    for name, (array, layout) in arrays.items():
        operand = _operand(name, array, layout, len(places), writable=name in operator.outputs)
        skipped = sum(span.low * step for span, step in zip(windows[name], operand.strides, strict=True))
        operands[name] = replace(
            operand,
            pointer=f"({operand.pointer} + {skipped if name in whole else 0})",
            extents=tuple(str(span.extent) for span in windows[name]),
            origin=tuple(str(span.low) for span in windows[name]),
            before=tuple(str(span.before) for span in windows[name]),
            after=tuple(str(span.after) for span in windows[name]),
        )
        places.append(at)
        at += align_up(array.nbytes, 16) + 16
    scratch = kernel.scratch_bytes(layer.tile(trips))
    empty = np.zeros(max(scratch, 1), np.uint8)
    operands["scratch"] = _operand("scratch", empty, (0,), len(places), writable=True)
    places.append(at)
    form = layer.sums if part else None
    kept = np.zeros(arrays[operator.outputs[0]][0].size, form.dtype.numpy if form else np.int32)
    if form is not None:
        output = operands[operator.outputs[0]]
        operands["acc"] = replace(
            output, name="acc", dtype=form.dtype, pointer=f"(({form.dtype.c_type} *)tw_p[{len(places)}])"
        )
        places.append(at + scratch + 16 & ~15)
    extents = {name: str(high - low) for name, (low, high) in trips.items()}
    ends = {"first": str(int(part == "first")), "last": str(int(part == "last"))} if part else {}
    text = kernel_text(kernel, Call(site=layer.site, operands=operands, extents=extents, name="step", **ends))
    image, entry = image_of(text, folder)
    machine = Machine(bytearray(SIZE))
    machine.memory[CODE : CODE + len(image)] = image
    for (name, (array, layout)), place in zip(arrays.items(), places, strict=False):
        if name not in operator.outputs:
            data = np.ascontiguousarray(array.transpose(layout)).tobytes()
            machine.memory[place : place + len(data)] = data
    if sums is not None:
        machine.memory[places[-1] : places[-1] + sums.nbytes] = sums.tobytes()
    table = np.asarray(places, np.uint32).tobytes()
    machine.memory[DATA - len(table) : DATA] = table
    machine.run(entry, (DATA - len(table),))
    outputs = tuple(
        _read(machine, place, array, layout)
        for (name, (array, layout)), place in zip(arrays.items(), places, strict=False)
        if name in operator.outputs
    )
    found = np.frombuffer(bytes(machine.memory[places[-1] : places[-1] + kept.nbytes]), kept.dtype)
    return Executed(outputs, machine.instructions, machine.cycles, machine.executed, found)


def _stored(layer: Layer, inputs: Sequence[Array | None]) -> dict[str, tuple[Array, tuple[int, ...]]]:
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


def _read(machine: Machine, place: int, array: Array, layout: Sequence[int]) -> Array:
    data = bytes(machine.memory[place : place + array.nbytes])
    stored = np.frombuffer(data, array.dtype).reshape([array.shape[axis] for axis in layout])
    result: Array = stored.transpose(np.argsort(layout))
    return result
