"""CPU seconds of whole `tilewright` processes, beside those of `python -c 'import onnx'` in the same run.

    python benchmarks/compile_time.py [--runs 5] [--chains] [--instructions] [MODEL.onnx ...]

Without models: the digits example and, where they are, the trained networks beside the checkout. `--chains` adds long
chains of int8 convolutions, which are made here from a seed: 1,000 equal layers for `generic`, 400 equal and 50
different ones for `siracusa`; and the first two in memories that they do not fit.

Every number is user + system time of one process and its children, the smallest of `--runs`, which is the least
disturbed one. Seconds are this machine's; the ratios in brackets, to the import of onnx, travel better. Instructions
are those that valgrind counts in one run of the process, in millions: the same within a thousandth on a busy machine.

Bytecode and templates are there, as they are after the first run of an installation: they are kept in a folder of the
benchmark's own, whatever PYTHONDONTWRITEBYTECODE says. The first run of a command makes it: with `--runs 1` the
table of networks shows what a first run takes.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
TILEWRIGHT = str(Path(sys.executable).with_name("tilewright"))
LIMIT_SECONDS = 3.0  # of every command on every network, on `generic`
TARGETS = {
    "generic": ("--target", "generic"),
    "siracusa, 64 KiB": ("--target", "siracusa", "--memory", "l1=64K"),
    "siracusa, 16 KiB": ("--target", "siracusa", "--memory", "l1=16K"),
}
Measured = Callable[..., float]  # what a command line takes
LAYERS = ("", ".graph", ".platform", ".operator", ".kernel", ".passes", ".allocator", ".runner", ".tiler")


@dataclass(frozen=True)
class Chain:
    """Convolutions in a row, 3x3 over 16 channels of 16x16; or over 8 to 57 where they differ."""

    layers: int
    target: str
    different: bool = False
    too_small: str = ""  # memory and size with which it does not fit

    @property
    def title(self) -> str:
        """For the table."""
        refused = f", refused: `--memory {self.too_small}`" if self.too_small else ""
        return f"{self.layers:,} {'different' if self.different else 'equal'} layers on {self.target}{refused}"

    @property
    def words(self) -> tuple[str, ...]:
        """For the command line."""
        return "--target", self.target, *(("--memory", self.too_small) if self.too_small else ())


CHAINS = (
    Chain(1000, "generic"),
    Chain(400, "siracusa"),
    Chain(50, "siracusa", different=True),
    Chain(1000, "generic", too_small="ram=3000"),
    Chain(400, "siracusa", too_small="l2=3000"),
    Chain(400, "siracusa", too_small="weights=120000"),
)
DOES_NOT_FIT = 5


def main() -> int:
    """Print the tables; 1 when the limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--chains", action="store_true")
    parser.add_argument("--instructions", action="store_true", help="instead of seconds; needs valgrind")
    parser.add_argument("models", nargs="*", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        os.environ["PYTHONPYCACHEPREFIX"] = os.environ["XDG_CACHE_HOME"] = kept
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        return tables(arguments)


def tables(arguments: argparse.Namespace) -> int:
    """Print them; 1 when the limit is missed."""
    measured: Measured = million_instructions if arguments.instructions else partial(cpu_seconds, runs=arguments.runs)
    shown = partial(beside, digits=0, word="M") if arguments.instructions else partial(beside, digits=2, word="s")
    unit = measured([sys.executable, "-c", "import onnx"])
    seconds = shown(measured([TILEWRIGHT, "--help"]), unit)
    print(f"`import onnx`: {shown(unit, unit)}; `tilewright --help`: {seconds}\n", flush=True)
    print(f"| network | check | {' | '.join(TARGETS)} |\n|---|---:|{'---:|' * len(TARGETS)}")
    worst = 0.0
    for model in arguments.models or default_models():
        check = measured([TILEWRIGHT, "check", str(model), "--target", "generic"])
        times = [measured(compiling(model, words)) for words in TARGETS.values()]
        worst = max(worst, check, times[0])
        print(f"| {model.stem} | {' | '.join(shown(time, unit) for time in (check, *times))} |", flush=True)
    if arguments.chains:
        print("\n| chain | compile |\n|---|---:|")
        for chain in CHAINS:
            print(f"| {chain.title} | {shown(chain_taken(chain, measured), unit)} |", flush=True)
    if arguments.instructions:
        return 0
    print("\n| import | CPU ms |\n|---|---:|")
    for layer in LAYERS:
        print(f"| `tilewright.api{layer}` | {1000 * import_seconds(f'tilewright.api{layer}', arguments.runs):.0f} |")
    return int(worst > LIMIT_SECONDS)


def beside(amount: float, unit: float, digits: int, word: str) -> str:
    """An amount, and how many times the unit that is."""
    return f"{amount:,.{digits}f} {word} ({amount / unit:.1f})"


def compiling(model: Path, words: Sequence[str]) -> list[str]:
    """The command that compiles a model into a folder that is replaced each time."""
    folder = Path(tempfile.gettempdir()) / "tilewright_compile_time"
    return [TILEWRIGHT, "compile", str(model), *words, "-o", str(folder), "-q"]


def default_models() -> list[Path]:
    """The committed network, then the trained ones beside the checkout."""
    shared = HERE.parents[1] / "shared" / "models"
    return [HERE.parent / "examples" / "digits" / "digits_int8.onnx", *sorted(shared.glob("*.onnx"))]


def chain_taken(chain: Chain, measured: Measured) -> float:
    """By compiling a chain."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "chain.onnx"
        model.write_bytes(chain_model(replace(chain, layers=2)))
        cpu_seconds(compiling(model, replace(chain, too_small="").words), runs=1)  # now there is bytecode
        model.write_bytes(chain_model(chain))
        return measured(compiling(model, chain.words), code=DOES_NOT_FIT if chain.too_small else 0)


def chain_model(chain: Chain, seed: int = 1) -> bytes:
    """Its ONNX file."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(seed)
    channels = [8 + 7 * index % 50 if chain.different else 16 for index in range(chain.layers)]
    constants, nodes = [], []
    for index, (inner, outer) in enumerate(zip([16, *channels], channels, strict=False)):
        arrays = (
            *(np.float32(0.02), np.int8(0)),
            random.integers(-127, 128, (outer, inner, 3, 3)).astype(np.int8),
            *(np.float32(0.005), np.int8(0), np.float32(0.02), np.int8(0)),
            random.integers(-500, 500, outer).astype(np.int32),
        )
        names = [f"constant{index}_{number}" for number in range(len(arrays))]
        constants += [
            numpy_helper.from_array(np.asarray(array), name) for array, name in zip(arrays, names, strict=True)
        ]
        inputs, output = [f"value{index}", *names], f"value{index + 1}"
        nodes.append(helper.make_node("QLinearConv", inputs, [output], f"conv{index}", pads=[1, 1, 1, 1]))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.INT8, [1, size, 16, 16])
        for name, size in (("value0", 16), (f"value{chain.layers}", channels[-1]))
    ]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return bytes(model.SerializeToString())


def cpu_seconds(command: list[str], *, runs: int, code: int = 0) -> float:
    """The smallest user + system time of one child process, which ends with `code`."""
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode != code:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(times)


def million_instructions(command: list[str], *, code: int = 0) -> float:
    """Of one child process, which ends with `code`, its bytecode made before. Hashes are the same in every run."""
    cpu_seconds(command, runs=1, code=code)
    counting = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable]
    python = command[1:] if command[0] == sys.executable else command
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}  # others of its threads spin
    done = subprocess.run([*counting, *python], check=False, capture_output=True, text=True, env=environment)
    match = re.search(r"refs: +([\d,]+)", done.stderr)
    if done.returncode != code or not match:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return int(match[1].replace(",", "")) / 1e6


def import_seconds(module: str, runs: int) -> float:
    """CPU time of the import alone, without the interpreter's own start."""
    code = f"import time; start = time.process_time(); import {module}; print(time.process_time() - start)"
    outputs = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(runs)
    ]
    return min(float(item.stdout) for item in outputs)


if __name__ == "__main__":
    sys.exit(main())
