"""The command line as a user sees it: at a terminal, and in this process with a made-up target."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from c_compiler import missing
from onnx import TensorProto, helper, numpy_helper

from tilewright.cli.main import _run as run_words
from tilewright.testing.cluster import CLUSTER, registry_for

MAIN = "from tilewright.cli import main; main()"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What a terminal was sent, and how the program ended."""

    text: str
    code: int

    @property
    def colourless(self) -> str:
        return ESCAPES.sub("", self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a command said in this process, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture(name="at_terminal")
def _at_terminal() -> Callable[..., Screen]:
    """`at_terminal("explain", TERM="xterm", columns=80, program=...)`: stdout and stderr are one terminal.

    Skipped on a machine without pseudo-terminals, as a chroot without /dev/pts is.
    """

    def run(*words: str, columns: int = 100, program: str = MAIN, **variables: str) -> Screen:
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            missing(f"no pseudo-terminals: {error}")
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "COLORTERM")}
        command = [sys.executable, "-c", program, *words]
        environment = {**kept, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **variables}
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        text = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        return Screen(text=text.decode().replace("\r\n", "\n"), code=process.wait(timeout=60))

    return run


def _read(terminal: int) -> bytes:
    """What there is, or nothing when whoever wrote has gone, which Linux calls an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


@pytest.fixture(name="run")
def _run_words(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """`run("check", model, "--json", "-")`, in this process."""

    def run(*words: object) -> Said:
        code = run_words([str(word) for word in words])
        said = capsys.readouterr()
        return Said(code=code, out=said.out, err=said.err)

    return run


@pytest.fixture(name="on_cluster")
def _on_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands can compile for `cluster-test`, and for nothing else: the core has no target of its own."""
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(CLUSTER))


@pytest.fixture(name="model")
def _model(tmp_path: Path) -> Path:
    """`net.onnx`: x, 2 x 8, times a matrix of 8 x 4, and a Relu. 64 multiply-accumulates."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "mul|tiply"), helper.make_node("Relu", ["a"], ["y"], "act")]
    weights = numpy_helper.from_array(np.ones((8, 4), np.float32), "w")
    graph = helper.make_graph(nodes, "net", [x], [y], [weights])
    file = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return file
