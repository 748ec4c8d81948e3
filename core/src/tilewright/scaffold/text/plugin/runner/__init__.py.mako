"""A runner: it builds what was generated, runs it and returns what was computed."""

from dataclasses import dataclass

from tilewright.api import hookimpl
from tilewright.api.runner import (
    RunResult,
    decode_outputs,
    decode_trace,
    execute,
    find_compiler,
    make_harness,
    missing_compiler,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unoptimised:
    name: str = "${name}"
    summary: str = "this machine, without optimisation"

    def available(self):
        return missing_compiler()

    def run(self, job, folder):
        harness = make_harness(job)
        for name, content in job.artifact.files.items():
            (folder / name).write_bytes(content)
        (folder / "main.c").write_text(harness.main, encoding="ascii")
        (folder / "inputs.bin").write_bytes(harness.inputs)
        left_out = (f"{job.prefix}_simple.c", f"{job.prefix}_selftest.c")
        sources = [name for name in job.artifact.files if name.endswith((".c", ".S")) and name not in left_out]
        command = [*find_compiler().command, "-O0", "-I.", "-o", "program", "main.c", *sources, "-lm"]
        execute(command, folder, code="TW7002", what="compiling", timeout_seconds=300)
        execute([str(folder / "program")], folder, code="TW7003", what="the program", timeout_seconds=300)
        return RunResult(
            outputs=decode_outputs(harness, (folder / "outputs.bin").read_bytes()),
            values=decode_trace(harness, (folder / "trace.bin").read_bytes()) if harness.records else (),
        )


@hookimpl
def tilewright_runners():
    return (Unoptimised(),)
