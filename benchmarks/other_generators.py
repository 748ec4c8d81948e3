"""Footprints beside another generator of C, for a Cortex-M4: bytes of C, code, and memory that is written.

    python benchmarks/other_generators.py [--networks NAME ...] [--other COMMAND]

COMMAND is emx-onnx-cgen (`pip install emx-onnx-cgen`). Both generators' C is built by arm-none-eabi-gcc with the same
flags. `text` is code without weights. `written` is static memory, inputs and outputs, and the largest stack of
a chain of calls, each frame as the compiler reports it: where temporaries lie on the stack, they count there.
tilewright has inputs and outputs in its pool, the other one in arrays of the caller. One line a network, as Markdown.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "kit"))

from networks import NETWORKS, network_file  # found only now
from tilewright.config.options import Options
from tilewright.deployment import Deployment

FLAGS = (
    "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-O2", "-std=c11", "-ffp-contract=off",
    "-ffunction-sections", "-fdata-sections", "-fstack-usage", "-w",
)  # fmt: skip
SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """All in bytes."""

    source: int
    text: int
    written: int


def ours(model: Path, folder: Path) -> Footprint:
    """What tilewright generates for cortex-m4."""
    plan = Deployment(model, "cortex-m4", Options(name="net", const_format="incbin", emit=()))
    files = plan.compile().files
    for name, content in files.items():
        (folder / name).write_bytes(content)
    sources = [name for name in files if name.endswith((".c", ".S"))]
    text, static, stack = built(sources, folder)
    size = sum(len(content) for name, content in files.items() if name.endswith((".c", ".h", ".S")))
    return Footprint(source=size, text=text, written=static + stack)


def ends_of(model: Path) -> int:
    """Bytes of inputs and outputs."""
    plan = Deployment(model, "generic", Options(name="net"))
    return sum(tensor.size_bytes for tensor in (*plan.inputs.values(), *plan.outputs.values()))


def theirs(model: Path, command: Sequence[str], folder: Path) -> Footprint:
    """What the other one generates: weights in a file of their own, all temporaries on the stack."""
    more = ("--emit-data-file", "--large-weight-threshold", "0", "--large-temp-threshold", "0", "--model-name", "net")
    subprocess.run(
        [*command, "compile", str(model), str(folder / "net.c"), *more],
        check=True,
        timeout=SECONDS,
        capture_output=True,
    )
    text, static, stack = built(["net.c", "net_data.c"], folder)
    return Footprint(source=(folder / "net.c").stat().st_size, text=text, written=static + stack + ends_of(model))


def built(sources: Sequence[str], folder: Path) -> tuple[int, int, int]:
    """Code, static memory, and stack."""
    text = static = 0
    for name in sources:
        subprocess.run(["arm-none-eabi-gcc", *FLAGS, "-I.", "-c", name], cwd=folder, check=True, timeout=SECONDS)
    for file in folder.glob("*.o"):
        listed = subprocess.run(
            ["arm-none-eabi-size", "-A", file.name], cwd=folder, check=True, capture_output=True, text=True
        )
        for line in listed.stdout.splitlines():
            section, size = (*line.split(), "", "")[:2]
            text += int(size) if section.startswith(".text") else 0
            static += int(size) if section.startswith((".data", ".bss")) else 0
    return text, static, stack_of(folder)


def stack_of(folder: Path) -> int:
    """The deepest chain of calls: frames by the compiler, calls by the disassembly."""
    frames = {}
    for file in folder.glob("*.su"):
        for line in file.read_text(encoding="utf-8").splitlines():
            place, size, _ = line.split("\t")
            frames[place.rsplit(":", 1)[1]] = int(size)
    calls: dict[str, set[str]] = {}
    for file in folder.glob("*.o"):
        listed = subprocess.run(
            ["arm-none-eabi-objdump", "-dr", file.name], cwd=folder, check=True, capture_output=True, text=True
        )
        at = ""
        for line in listed.stdout.splitlines():
            if match := re.match(r"[0-9a-f]+ <([^>]+)>:", line):
                at = match[1]
            elif match := re.search(r"R_ARM_THM_(?:CALL|JUMP24)\s+(\S+)|\bbl?\S*\s+[0-9a-f]+ <([^+>]+)>", line):
                calls.setdefault(at, set()).add(match[1] or match[2])

    def deepest(name: str, above: frozenset[str]) -> int:
        inner = (deepest(each, above | {name}) for each in calls.get(name, ()) if each not in above)
        return frames.get(name, 0) + max(inner, default=0)

    return max((deepest(name, frozenset()) for name in frames), default=0)


def rows(names: Sequence[str], command: Sequence[str]) -> Iterator[str]:
    """The table."""
    yield "| network | bytes of C | | `.text` | | written memory | |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    yield "| | tilewright | other | tilewright | other | tilewright | other |"
    for name in names:
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as two:
            mine, second = ours(network_file(name), Path(first)), theirs(network_file(name), command, Path(two))
        pairs = ((mine.source, second.source), (mine.text, second.text), (mine.written, second.written))
        yield f"| {name} | {' | '.join(f'{left:,} | {right:,}' for left, right in pairs)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--other", default="emx-onnx-cgen")
    arguments = parser.parse_args()
    for line in rows(arguments.networks, shlex.split(arguments.other)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
