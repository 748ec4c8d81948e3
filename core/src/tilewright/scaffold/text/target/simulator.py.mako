"""How a program is run: here on this machine, one day in the simulator of the chip or on a board."""

from dataclasses import dataclass
% if dma:
from importlib.resources import files
% endif

from tilewright.api.runner import (
    RunResult,
    decode_outputs,
    decode_trace,
    execute,
    find_compiler,
    make_harness,
    missing_compiler,
)

SECONDS = 600  # of patience


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulator:
    name: str = "${name}-sim"
    summary: str = "stands for the simulator of ${name}: this machine"

    def available(self):
        """None, or what to install."""
        return missing_compiler()

    def run(self, job, folder):
        """Build in `folder`, run, and return what was computed. Counts of cycles belong into `RunResult` as well."""
        harness = make_harness(job)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in job.artifact.files.items():
            (folder / name).write_bytes(content)
        (folder / "main.c").write_text(harness.main, encoding="ascii")
        for name, text in harness.headers.items():
            (folder / name).write_text(text, encoding="ascii")
        (folder / "inputs.bin").write_bytes(harness.inputs)
        left_out = (f"{job.prefix}_simple.c", f"{job.prefix}_selftest.c")
        sources = [name for name in job.artifact.files if name.endswith((".c", ".S")) and name not in left_out]
% if dma:
        (folder / "runtime.c").write_bytes((files("${module}") / "runtime.c").read_bytes())
        sources.append("runtime.c")
% endif
        command = [*find_compiler().command, "-O1", "-I.", *harness.flags, "-o", "program", "main.c", *sources, "-lm"]
        execute(command, folder, code="TW7002", what="compiling", timeout_seconds=SECONDS)
        program = str((folder / "program").resolve())
        execute([program], folder, code="TW7003", what="the program", timeout_seconds=SECONDS)
        rows = folder / "rows.bin"
        traced = decode_trace(
            harness,
            (folder / "trace.bin").read_bytes() if harness.records else b"",
            rows.read_bytes() if rows.exists() else b"",
        )
        outputs = decode_outputs(harness, (folder / "outputs.bin").read_bytes())
        return RunResult(outputs=outputs, values=traced if job.trace else ())


SIMULATOR = Simulator()
