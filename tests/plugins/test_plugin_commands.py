"""A broken plugin as somebody at the command line meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper


@pytest.fixture(scope="module", name="site")
def _site(make_site: Any, make_plugin: Any, healthy: Any) -> Any:
    broken = make_plugin(
        name="broken",
        source="import nothing_of_this_name",
        entry_points={"platform.broken": "broken", "graph_pass.broken": "broken"},
    )
    return make_site(healthy, broken)


@pytest.fixture(scope="module", name="model")
def _model(tmp_path_factory: pytest.TempPathFactory) -> str:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="relu")], "tiny", [x], [y])
    path = tmp_path_factory.mktemp("model") / "tiny.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return str(path)


def test_choosing_it_is_exit_8_and_writes_nothing(site: Any, model: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    finished = site.tilewright("compile", model, "--target", "broken", "-o", str(out))
    assert finished.returncode == 8
    assert finished.stdout == ""
    assert "target 'broken' needs plugin broken 1.2.3" in finished.stderr
    assert "Traceback" not in finished.stderr
    assert not out.exists()


def test_choosing_another_is_one_warning_line(site: Any, model: str, tmp_path: Path) -> None:
    finished = site.tilewright("compile", model, "--target", "healthy", "-o", str(tmp_path / "out"))
    assert finished.returncode == 0, finished.stderr
    (line,) = (line for line in finished.stderr.splitlines() if line.startswith("warning[TW8004]"))
    assert "plugin broken 1.2.3 is not used: importing broken failed: ModuleNotFoundError" in line


def test_listing_goes_on(site: Any) -> None:
    for arguments in (("targets",), ("plugins", "list"), ("--help",)):
        finished = site.tilewright(*arguments)
        assert finished.returncode == 0, finished.stderr
        assert "Traceback" not in finished.stderr
    listed = json.loads(site.tilewright("targets", "--json", "-").stdout)
    assert {"broken", "healthy"} <= {row["name"] for row in listed}


def test_doctor_names_it_and_is_exit_8(site: Any) -> None:
    finished = site.tilewright("plugins", "doctor", "--json", "-")
    assert finished.returncode == 8
    status = {report["package"]: report["status"] for report in json.loads(finished.stdout)}
    assert (status["broken"], status["healthy-plugin"]) == ("failed", "ok")


def test_blocked_it_is_quiet_in_doctor(site: Any) -> None:
    finished = site.tilewright("plugins", "doctor", TILEWRIGHT_BLOCK="broken")
    assert finished.returncode == 0, finished.stdout
    assert "blocked" in finished.stdout
