"""Runs `tilewright` again and again, each time in a process of its own whose CPU time and memory are limited.

A line with a folder comes in, and a line of JSON goes out: exit code or signal, CPU seconds and largest memory in MiB
of `tilewright compile model.onnx -t generic -o out --allow-external` there. Each process is a copy of this one, in
which one model was compiled, so that everything is loaded.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from hostile_bytes import good
from tilewright.cli.main import _run

CPU_SECONDS, SECONDS, ADDRESSES = 6, 60, 4 << 30  # after which a process ends


def _in_folder(folder: str) -> int:
    """What the command returns."""
    os.chdir(folder)
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), stream)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    signal.alarm(SECONDS)
    code = _run(["compile", "model.onnx", "-t", "generic", "-o", "out", "--allow-external"])
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _load() -> None:
    """What every process needs, once."""
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        (Path(folder) / "model.onnx").write_bytes(good())
        if _run(["compile", f"{folder}/model.onnx", "-t", "generic", "-o", f"{folder}/out"]):
            raise RuntimeError("a model that is right does not compile")


def main() -> None:
    """Serve until there are no more lines."""
    _load()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(_in_folder(line.rstrip("\n")))
        _, status, used = os.wait4(child, 0)
        found = {
            "code": os.waitstatus_to_exitcode(status),
            "cpu": round(used.ru_utime + used.ru_stime, 2),
            "mib": used.ru_maxrss // 1024,
        }
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
