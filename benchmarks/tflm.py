"""The same .tflite in TensorFlow Lite for Microcontrollers and here: memory, flash, executed instructions on Cortex-M.
Usage: python benchmarks/tflm.py FILES [--cores m4,m55]

The arena is what the package tflite-micro, which must be installed, says of itself on this machine: `arena_used_bytes`
with its reference kernels and pointers of 64 bits. RAM here is all that the plan takes. Instructions and flash of TFLM
with CMSIS-NN are those that were measured for docs/benchmarks.md, by the files' names, and missing for others; flash
is code and constants, of TFLM the file and its runtime. Inputs are random. Exit status 1 when an output is another one
than TFLM's.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from cortex_m import run

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.plan.proposals.planner import ram_bytes

CORES = ("m4", "m55")
_HEAD = (
    "network", "core", "arena: TFLM", "RAM", "share", "by rows: RAM", "by rows: share", "flash: TFLM", "flash",
    "instructions: TFLM + CMSIS-NN", "instructions", "by rows: instructions",
)  # fmt: skip
_PUBLISHED: Mapping[str, Mapping[str, int]] = MappingProxyType(  # file -> core -> instructions of one Invoke
    {
        "pretrainedResnet_quant": {"m4": 29_875_013, "m55": 4_811_791},
        "kws_ref_model": {"m4": 7_848_467, "m55": 1_788_642},
        "vww_96_int8": {"m4": 24_720_967, "m55": 6_434_117},
        "ad01_int8": {"m4": 582_507, "m55": 150_119},
    }
)
_RUNTIME = MappingProxyType({"m4": 125_900, "m55": 113_200})  # bytes of flash beside the file, printf included
_PEER = """
import sys
import numpy as np
from tflite_micro import runtime
interpreter = runtime.Interpreter.from_file(sys.argv[1])
with np.load(sys.argv[2]) as inputs:
    for place in range(len(inputs.files)):
        interpreter.set_input(inputs[str(place)], place)
interpreter.invoke()
np.savez(sys.argv[3], *(interpreter.get_output(place) for place in range(int(sys.argv[4]))))
interpreter.print_allocations()
"""
_TOTAL = re.compile(r"Arena allocation total (\d+) bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One program on one core."""

    ram: int
    flash: int
    instructions: int
    outputs: Mapping[str, Any]


def main() -> int:
    """Every file on every core; a Markdown table on stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILES")
    parser.add_argument("--cores", default=",".join(CORES))
    arguments = parser.parse_args()
    sys.stdout.write(f"| {' | '.join(_HEAD)} |\n|---|---|{'---:|' * (len(_HEAD) - 2)}\n")
    wrong = 0
    for file in arguments.files:
        for core in arguments.cores.split(","):
            line, same = compared(file, core)
            wrong += not same
            sys.stdout.write(f"| {' | '.join(line)} |{'' if same else ' WRONG'}\n")
            sys.stdout.flush()
    return 1 if wrong else 0


def compared(file: Path, core: str) -> tuple[list[str], bool]:
    """A line of the table, and whether both programs here give TFLM's outputs."""
    plans = [Deployment(file, f"cortex-{core}", Options(optimize=how)) for how in ("speed", "ram")]
    inputs = dict(random_inputs(plans[0]))
    arena, theirs = peer(file, list(inputs.values()), len(plans[0].outputs))
    whole, rows = (measured(plan, inputs) for plan in plans)
    same = all(
        np.array_equal(ours, right)
        for left in (whole, rows)
        for ours, right in zip(left.outputs.values(), theirs, strict=True)
    )
    published = _PUBLISHED.get(file.stem, {}).get(core)
    memory = (arena, whole.ram, f"{whole.ram / arena:.2f}", rows.ram, f"{rows.ram / arena:.2f}")
    flash = (file.stat().st_size + _RUNTIME[core] if core in _RUNTIME else None, whole.flash)
    counts = (published, whole.instructions, rows.instructions)
    return [file.stem, core, *map(shown, (*memory, *flash, *counts))], same


def shown(cell: int | str | None) -> str:
    """A number with its thousands apart; a dash for what is not known."""
    return "-" if cell is None else cell if isinstance(cell, str) else f"{cell:,}"


def random_inputs(plan: Deployment) -> Iterator[tuple[str, Any]]:
    """By name, in the order of the file; the same in every run."""
    random = np.random.default_rng(0)
    for name, tensor in plan.inputs.items():
        kind = tensor.dtype.numpy
        ends = (np.iinfo(kind).min, np.iinfo(kind).max + 1) if kind.kind in "iu" else (0, 1)
        drawn = random.integers(*ends, tensor.shape) if kind.kind in "iu" else random.random(tensor.shape)
        yield name, drawn.astype(kind)


def measured(plan: Deployment, inputs: dict[str, Any]) -> Measured:
    """Built by gcc, and run under QEMU."""
    ran = run(plan, inputs, trace=False)
    constants = sum(pool.used_bytes for pool in plan.allocated.pools if pool.kind == "const")
    return Measured(
        ram=ram_bytes(plan.allocated),
        flash=constants + ran.counts["code_bytes"],
        instructions=ran.counts["instructions"],
        outputs=ran.outputs[0],
    )


def peer(file: Path, inputs: list[Any], outputs: int) -> tuple[int, list[Any]]:
    """Bytes of the arena, and what TFLM gives, in a process of its own: it prints what it knows of its memory."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        inputs_file, got = Path(folder) / "given.npz", Path(folder) / "got.npz"
        np.savez(inputs_file, **{str(place): array for place, array in enumerate(inputs)})
        words = [sys.executable, "-c", _PEER, str(file), str(inputs_file), str(got), str(outputs)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        with np.load(got) as archive:
            result = [archive[name] for name in archive.files]
    (total,) = _TOTAL.findall(done.stdout + done.stderr)[:1]
    return int(total), result


if __name__ == "__main__":
    sys.exit(main())
