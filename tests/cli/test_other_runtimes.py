"""`validate --against`: another runtime is asked, too, and both agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize("runtime", ["onnxruntime", "onnx-reference"])
def test_a_float_network_agrees(tilewright: Run, float32: Path, runtime: str) -> None:
    if runtime == "onnxruntime":
        pytest.importorskip("onnxruntime")
    finished = tilewright("validate", float32, "-t", "generic", "--sets", "1", "--against", runtime)
    assert finished.code == 0, finished.err
    assert f"against {runtime}: " in finished.out
    assert "PASS" in finished.out.splitlines()


def test_every_number_is_in_the_json(tilewright: Run, float32: Path) -> None:
    words = ("validate", float32, "-t", "generic", "--sets", "1", "--against", "onnx-reference", "--json", "-")
    found = tilewright(*words).json()["against"]
    assert found["agrees"]
    assert found["nodes"]
    assert {"node", "op", "distance", "unit", "share_of_spread", "within", "value"} == found["nodes"][0].keys()


def test_integer_ends_have_no_counterpart(tilewright: Run, int8: Path) -> None:
    finished = tilewright("validate", int8, "-t", "generic", "--io-type", "int8", "--against", "onnx-reference")
    assert finished.code == 2
    assert "exclude each other" in finished.err
