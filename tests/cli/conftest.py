"""The installed `tilewright`, as a process or in this one, and small models, right and wrong."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from networks import NETWORKS, network_file
from tilewright.cli.main import _run as run_words

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"
SCRIPT = Path(sys.executable).with_name("tilewright")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What one run of the command line left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The only thing on stdout."""
        return json.loads(self.out)


@pytest.fixture(scope="session", name="script")
def _script() -> str:
    found = str(SCRIPT) if SCRIPT.exists() else shutil.which("tilewright")
    assert found, "the script `tilewright` is not installed"
    return found


@pytest.fixture(scope="session", name="process")
def _process(script: str) -> Callable[..., Finished]:
    """`process("check", model, cwd=..., env=...)`, without the variables that change what it does."""

    def run(*words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Finished:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TILEWRIGHT_")}
        done = subprocess.run(
            [script, *map(str, words)],
            cwd=cwd,
            env={**clean, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Finished(code=done.returncode, out=done.stdout, err=done.stderr)

    return run


@pytest.fixture(scope="session", name="tilewright")
def _tilewright() -> Callable[..., Finished]:
    """The same in this process, with the environment as it is: hundreds of them take seconds."""

    def run_here(*words: object, cwd: Path | None = None) -> Finished:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(cwd or "."), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_words([*map(str, words)])
        return Finished(code=code, out=out.getvalue(), err=err.getvalue())

    return run_here


@pytest.fixture(scope="session", name="typed")
def _typed(tilewright: Callable[..., Finished]) -> Callable[[str], Finished]:
    """`typed("check net.onnx -t generic")` as in a shell, but in this process."""
    return lambda line: tilewright(*shlex.split(line))


@pytest.fixture(scope="session", name="demand_proper")
def _demand_proper() -> Callable[[Finished, str, int, str], None]:
    """`demand_proper(finished, code, exit_code, says)`: a screen with the code, a place or reason, and a next step."""

    def demand(finished: Finished, code: str, exit_code: int, says: str) -> None:
        lines = finished.err.rstrip("\n").split("\n")
        assert finished.code == exit_code, finished.err
        assert any(line.startswith(f"error[{code}]: ") for line in lines), finished.err
        assert says in finished.err
        assert any(line.startswith("  try:  ") for line in lines), finished.err
        assert "Traceback" not in finished.err and "TW9001" not in finished.err
        assert len(lines) <= 24 and max(map(len, lines)) <= 120, finished.err

    return demand


@pytest.fixture(scope="session", name="desk")
def _desk(tmp_path_factory: pytest.TempPathFactory, typed: Callable[[str], Finished]) -> Path:
    """A folder to copy: `net.onnx` (input `x`, output `y`, layers `conv` and `act`), its report `net.json`, vectors
    `net.npz`, `dyn.onnx`, a Relu whose batch `N` has no number, and `open.onnx`, whose length `T` has none either."""
    folder = tmp_path_factory.mktemp("desk")
    onnx.save(_convolution(), folder / "net.onnx")
    onnx.save(_relu_of("N", 4), folder / "dyn.onnx")
    onnx.save(_relu_of("N", "T"), folder / "open.onnx")
    np.savez(folder / "net.npz", **{"set0/in/x": np.zeros((1, 2, 6, 6), np.float32)})
    with contextlib.chdir(folder):
        assert typed("check net.onnx -t generic --json net.json").code == 0
    return folder


def _convolution() -> onnx.ModelProto:
    weights = np.random.default_rng(0).standard_normal((3, 2, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["y"], name="act"),
    ]
    return _model(nodes, (1, 2, 6, 6), {"w": weights})


def _relu_of(*shape: int | str) -> onnx.ModelProto:
    return _model([helper.make_node("Relu", ["x"], ["y"])], shape, {})


def _model(
    nodes: Sequence[onnx.NodeProto], shape: Sequence[int | str], constants: Mapping[str, Any]
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture(scope="session", name="int8")
def _int8() -> Path:
    """A quantised convolutional network."""
    return DIGITS / "digits_int8.onnx"


@pytest.fixture(scope="session", name="float32")
def _float32() -> Path:
    """The same before it was quantised."""
    return DIGITS / "digits_f32.onnx"


@pytest.fixture(scope="session", name="networks")
def _networks() -> tuple[Path, ...]:
    """Every real network there is."""
    return (*sorted(DIGITS.glob("*.onnx")), *(network_file(name) for name in NETWORKS))


@pytest.fixture(scope="session", name="report")
def _report(tilewright: Callable[..., Finished], int8: Path) -> dict[str, Any]:
    """The report of the quantised network."""
    finished = tilewright("check", int8, "-t", "generic", "--json", "-")
    assert finished.code == 0, finished.err
    found: dict[str, Any] = finished.json()
    return found


@pytest.fixture(scope="session", name="graph")
def _graph() -> Callable[..., onnx.ModelProto]:
    """A model with one float input `x` of 1x4 and one output `y`, unless told otherwise."""

    def make(
        nodes: Sequence[onnx.NodeProto],
        *,
        inputs: Mapping[str, Sequence[int | str | None]] | None = None,
        outputs: Sequence[str] = ("y",),
        constants: Mapping[str, object] | None = None,
    ) -> onnx.ModelProto:
        ends = {"x": (1, 4)} if inputs is None else inputs
        return helper.make_model(
            helper.make_graph(
                list(nodes),
                "net",
                [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends.items()],
                [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
                [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()],
            ),
            opset_imports=[helper.make_opsetid("", 17)],
        )

    return make
