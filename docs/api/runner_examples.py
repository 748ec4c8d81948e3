# %% before all examples
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tilewright.api.deployment import Deployment
from tilewright.api.runner import (
    Area,
    Compiler,
    ElfSymbol,
    Harness,
    Job,
    Level,
    Record,
    Runner,
    RunResult,
    Timeline,
    TimeSpan,
    TracedRows,
    decode_outputs,
    decode_trace,
    elf_code_bytes,
    elf_function_at,
    elf_symbols,
    execute,
    find_compiler,
    make_harness,
    missing_compiler,
)

plan = Deployment("digits_int8.onnx", "generic")
image = {name: np.zeros(tensor.shape, tensor.dtype.numpy) for name, tensor in plan.inputs.items()}

# %% Job
# What is to be run: the generated files, the plan behind them, and sets of inputs.
job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(image,), trace=True)

# %% make_harness, Harness, Area, Record, TracedRows
# The program around the network: its `main`, the inputs as bytes, and where each step's values will be.
harness: Harness = make_harness(job)
record: Record = harness.records[0]
area: Area = harness.areas[record.area]
assert record.offset_bytes + record.size_bytes <= area.size_bytes
assert "int main(" in harness.main
assert len(harness.inputs) == sum(array.nbytes for array in image.values())
assert record.size_bytes == harness.tensors[record.value].size_bytes
rows: tuple[TracedRows, ...] = harness.traced  # values that are nowhere whole, because they are computed row by row
assert rows == () == harness.flags and not harness.headers

# %% find_compiler, missing_compiler, Compiler
# What this machine compiles with; `missing_compiler` is the sentence for `Runner.available`.
compiler: Compiler | None = None if missing_compiler() else find_compiler()
assert compiler is None or compiler.command

# %% execute
# A command, with what it printed; where it fails the error has the tool's own words.
with TemporaryDirectory() as folder:
    command = [sys.executable, "-c", "print('hello')"]
    printed = execute(command, Path(folder), code="TW7003", what="the program", timeout_seconds=60)
assert printed == "hello\n"


# %% decode_outputs, decode_trace, Runner, RunResult
# A runner builds, starts and decodes. What this one decodes is what a broken machine would write: zeros.
@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    name: str = "acme-broken"
    summary: str = "answers zero"

    def available(self) -> str | None:
        return None

    def run(self, job: Job, folder: Path) -> RunResult:
        harness = make_harness(job)
        outputs = bytes(sum(port.tensor.size_bytes for port in harness.outputs) * harness.sets)
        trace = bytes(sum(record.size_bytes for record in harness.records) * harness.sets)
        return RunResult(
            outputs=decode_outputs(harness, outputs),
            values=decode_trace(harness, trace) if harness.records else (),
        )


runner: Runner = Broken()
result = runner.run(job, Path())
assert {name: array.shape for name, array in result.outputs[0].items()} == {
    name: tensor.shape for name, tensor in plan.outputs.items()
}

# %% Timeline, TimeSpan, Level
# With `Job.timeline`, a runner with a clock also says when things happened. `--trace` shows it in a browser.
timeline = Timeline(
    spans=(TimeSpan(track="cores", name="conv", step="conv", begin=30, end=120),),
    levels=(Level(memory="l1", cycle=30, used_bytes=4096),),
)
assert RunResult(outputs=(), timeline=timeline).timeline is timeline

# %% elf_symbols, ElfSymbol, elf_function_at, elf_code_bytes
# What a 32-bit ELF file says; this one has no sections, so it has neither symbols nor code.
empty = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1", 1, 40, 1, 0, 0, 52, 0, 52, 0, 0, 40, 0, 0)
assert elf_symbols(empty) == ()
assert elf_code_bytes(empty) == 0
symbols = (ElfSymbol(name="conv", address=0x100, size_bytes=64, is_function=True),)
assert elf_function_at(symbols, 0x120) == "conv"
