"""Knows how CMSIS-NN is built from a folder that the user has, and what its functions execute and give for layers.
Does not know which function computes a layer (`cmsis_nn_calls`).

It is built as its own project builds it, with `-Ofast`, but for half floats, and called from C that is written here.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from cmsis_nn_calls import PeerCall, calls
from cortex_m_layers import Layer

from tilewright_cortexm.cores import core_named
from tilewright_cortexm.latencies import LATENCIES
from tilewright_cortexm.qemu.counting import CLONE, EXTRAS
from tilewright_cortexm.qemu.machines import MACHINES
from tilewright_cortexm.qemu.tools import GCC, QEMU, counter_plugin

OWN = ("board.h", "startup.c", "sections.ld")
FLOATS = ("-DARM_NN_ENABLE_F32=1", "-DARM_NN_ENABLE_F16=0")
MENDED = ("-include", str(Path(__file__).with_name("cmsis_nn_gcc12.h")))
LEFT_OUT = ("Bindings", "f16")
MEMORY = ("a", "w", "bias", "multiplier", "shift", "y")
BUFFER = 262144
STACK = 16384
_HEAD = """
#include "arm_nnfunctions.h"
#include "board.h"
#define MEMORY(name, bytes) static _Alignas(16) uint8_t name[bytes]
static void room(int32_t bytes);
static cmsis_nn_context scratch;
"""
_ROOM = """
static void room(int32_t bytes)
{
    scratch.buf = buffer;
    scratch.size = bytes;
    if (bytes > (int32_t)sizeof buffer) {
        board_fail("needs more scratch: ", "a layer");
    }
}
"""
_LAYER = """
%(constants)s
static void ready_%(number)d(void)
{
    room(0);
    %(ready)s
}

__attribute__((noinline)) arm_cmsis_nn_status layer_%(number)d(void)
{
    return %(call)s;
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerCount:
    """What calls gave, in the axes of the layer, and what the cheapest executed."""

    outputs: tuple[Any, ...]
    instructions: int
    cycles: int


def measured(layers: Sequence[Layer], core: str, source: Path, folder: Path) -> Iterator[PeerCount | None]:
    """The cheapest call of each layer, None where there is none. `folder` keeps what is built."""
    every = [(index, call) for index, layer in enumerate(layers) for call in calls(layer)]
    built = library(core, source, folder)
    counts = counted([call for _, call in every], core, built, source, folder / f"run-{core}")
    for index in range(len(layers)):
        result = [count for (at, _), count in zip(every, counts, strict=True) if at == index]
        best = min(result, key=lambda count: count.instructions, default=None)
        yield best and replace(best, outputs=tuple(item.outputs[0] for item in result))


def library(core: str, source: Path, folder: Path) -> list[Path]:
    """Its objects; those that are there already are taken as they are."""
    place = folder / f"cmsis-nn-{core}"
    place.mkdir(parents=True, exist_ok=True)
    result = [file for file in sorted(source.glob("Source/**/*.c")) if not any(word in str(file) for word in LEFT_OUT)]
    if not result:
        sys.exit(f"{source}: no Source/*/*.c; give the folder of a copy of github.com/ARM-software/CMSIS-NN")
    objects = [place / f"{file.stem}.o" for file in result]
    flags = ["-std=c11", "-Ofast", *FLOATS, *machine_flags(core), "-ffunction-sections", f"-I{source}/Include"]
    with ThreadPoolExecutor(2) as pool:
        for done in [
            pool.submit(
                _tool,
                [GCC, *flags, *(MENDED if "_f32" in file.name else ()), "-c", str(file), "-o", str(target)],
                folder,
            )
            for file, target in zip(result, objects, strict=True)
            if not target.is_file()
        ]:
            done.result()
    return objects


def machine_flags(core: str) -> list[str]:
    """For the compiler, without those that suit our own C."""
    return [flag for flag in core_named(core).flags if not flag.startswith("-fno-")]


def _tool(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def counted(every: Sequence[PeerCall], core: str, built: Sequence[Path], source: Path, folder: Path) -> list[PeerCount]:
    """All calls in one program."""
    folder.mkdir(parents=True, exist_ok=True)
    home = files("tilewright_cortexm.qemu")
    for name in OWN:
        (folder / name).write_bytes((home / name).read_bytes())
    (folder / "harness_main.c").write_text(program(every), encoding="ascii")
    flags, machine = machine_flags(core), MACHINES[core]
    for name in ("harness_main", "startup"):
        include = [*FLOATS, f"-I{source / 'Include'}", "-c", f"{name}.c", "-o", f"{name}.o"]
        _tool([GCC, "-std=c11", "-O2", *flags, *include], folder)
    place = [*machine.link_flags, f"-Wl,--defsym=STACK_SIZE={STACK}", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"]
    objects = ["harness_main.o", "startup.o", *map(str, built)]
    _tool([GCC, *flags, "-nostartfiles", "-T", "sections.ld", *place, "-o", "peer.elf", *objects, "-lm"], folder)
    (folder / "inputs.bin").write_bytes(b"".join(_bytes(call, name) for call in every for name in MEMORY[:-1]))
    (folder / "regions.txt").write_text(_regions(folder), encoding="ascii")
    plugin = f"{counter_plugin(folder)},regions=regions.txt,out=counts.txt,flash=0x20000000"
    quiet = ("-display", "none", "-monitor", "none", "-serial", "none")
    hosting = ("-semihosting-config", "enable=on,target=native")
    _tool([QEMU, "-M", machine.board, *quiet, *hosting, "-plugin", plugin, "-kernel", "peer.elf"], folder)
    return list(_results(every, core, folder))


def _bytes(call: PeerCall, name: str) -> bytes:
    array = call.feeds.get(name)
    return b"" if array is None else np.ascontiguousarray(array).tobytes()


def program(every: Sequence[PeerCall]) -> str:
    """Reads what a layer is given, calls it, writes what it gave."""
    most = {name: max([16, *(len(_bytes(call, name)) for call in every)]) for name in MEMORY[:-1]}
    most["y"] = max(int(np.prod(call.shape)) * call.dtype.size_bytes for call in every)
    parts = [_HEAD, *(f"MEMORY({name}, {size});\n" for name, size in most.items()), f"MEMORY(buffer, {BUFFER});\n"]
    steps = []
    for number, call in enumerate(every):
        fields = {"constants": call.constants, "ready": call.ready, "call": call.call, "number": number}
        parts.append((_LAYER % fields).replace("@", str(number)))
        reads = [f"board_read(in, {name}, {len(_bytes(call, name))});" for name in MEMORY[:-1] if _bytes(call, name)]
        size = int(np.prod(call.shape)) * call.dtype.size_bytes
        steps += [*reads, f"ready_{number}();", f"status = layer_{number}();", f"board_write(out, y, {size});"]
        steps.append(f'if (status != ARM_CMSIS_NN_SUCCESS) {{ board_fail("refused: ", "layer {number}"); }}')
    body = "\n    ".join(steps)
    opened = 'int in = board_open("inputs.bin", 0), out = board_open("outputs.bin", 1);'
    ending = "board_close(out);\n    board_close(in);\n    return 0;"
    main = f"int main(void)\n{{\n    {opened}\n    arm_cmsis_nn_status status;\n    {body}\n    {ending}\n}}\n"
    return "".join([*parts, _ROOM, main])


def _regions(folder: Path) -> str:
    """Layers by their number + 1; all else of this program is outside."""
    from tilewright.api.runner import elf_symbols

    lines = []
    for symbol in elf_symbols((folder / "peer.elf").read_bytes()):
        name = CLONE.sub("", symbol.name)
        if symbol.is_function and (name == "main" or name.startswith("layer_")):
            number = -1 if name == "main" else int(name.removeprefix("layer_")) + 1
            lines.append(f"{symbol.address:x} {symbol.address + symbol.size_bytes:x} {number}\n")
    return "".join(lines)


def _results(every: Sequence[PeerCall], core: str, folder: Path) -> Iterator[PeerCount]:
    head, *lines = (folder / "counts.txt").read_text(encoding="ascii").splitlines()
    numbers = [list(map(int, line.split())) for line in lines]
    visits = {index - 1: dict(zip(head.split()[1:], visit, strict=True)) for index, *visit in numbers if visit}
    stated, at = (folder / "outputs.bin").read_bytes(), 0
    for number, call in enumerate(every):
        size = int(np.prod(call.shape)) * call.dtype.size_bytes
        array = np.frombuffer(stated[at : at + size], call.dtype.numpy).reshape(call.shape).transpose(call.axes)
        at += size
        yield PeerCount(outputs=(array,), **_counts(visits[number], core))


def _counts(visit: Mapping[str, int], core: str) -> dict[str, int]:
    executed = {f"instructions.{name}": count for name, count in visit.items() if name not in EXTRAS}
    more = {name: count for name, count in visit.items() if name in EXTRAS}
    return {"instructions": sum(executed.values()), "cycles": round(LATENCIES[core].cycles(executed | more))}
