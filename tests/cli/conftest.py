"""The installed `tilewright`, run as a user runs it, and small models, right and wrong."""

from __future__ import annotations

import json
import os
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

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"
SHARED = ROOT.parent / "shared" / "models"
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


@pytest.fixture(scope="session", name="tilewright")
def _tilewright(script: str) -> Callable[..., Finished]:
    """`tilewright("check", model, cwd=..., env=...)`, without the variables that change what it does."""

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
    return (*sorted(DIGITS.glob("*.onnx")), *sorted(SHARED.glob("*.onnx")))


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
