"""What a program sees of a compilation, on a machine of the author's kit; with real targets see `tests/front_door`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper

import tilewright
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.front_door.compilation import Compiled, compiled
from tilewright.snapshot.written_files import MANIFEST
from tilewright.testing.cluster import CLUSTER, registry_for


def model() -> bytes:
    """A Sigmoid over 16 x 16 floats."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [16, 16]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"])], "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def plan(name: str, **options: Any) -> Compiled:
    """For a machine that no package offers; nor does any offer build systems here."""
    wanted = Options(name=name, emit=(), memory={"l1": 4096}, **options)
    return compiled(Deployment(model(), CLUSTER.name, wanted, registry_for(CLUSTER)))


@pytest.fixture(name="done", scope="module")
def _done() -> Compiled:
    return plan("net")


def imported_by(statement: str) -> set[str]:
    """The modules that a new process has after `statement`."""
    command = [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_package_brings_nothing() -> None:
    found = imported_by("import tilewright")
    assert {name for name in found if name.startswith("tilewright")} == {"tilewright"}
    assert not {"numpy", "onnx", "click", "pluggy", "mako"} & found


@pytest.mark.slow
def test_the_front_door_brings_neither_onnx_nor_the_command_line() -> None:
    assert not {"onnx", "onnxruntime", "click"} & imported_by("import tilewright; tilewright.compile")


def test_the_package_offers_its_names_and_no_others() -> None:
    assert set(tilewright.__all__) <= set(dir(tilewright))
    assert all(getattr(tilewright, name) for name in tilewright.__all__)
    with pytest.raises(AttributeError, match="no attribute 'compil'"):
        getattr(tilewright, "compil")  # noqa: B009  # the name is wrong on purpose


def test_memory_is_what_the_plan_takes_and_what_is_left(done: Compiled) -> None:
    assert {name: use.used_bytes for name, use in done.memory.items()} == done.deployment.worst_case_buffer_size
    near = done.memory["l1"]
    assert near.limit_bytes is not None
    assert near.free_bytes == near.limit_bytes - near.used_bytes
    assert 0 < near.used_bytes <= 4096


def test_the_report_is_text_data_and_a_page(done: Compiled) -> None:
    assert str(done) == str(done.report) == repr(done.report)
    assert str(done).startswith("net: 1 steps")
    assert done.report.data["model"]["name"] == done.name == "net"
    assert done.report.html == done.files["report.html"].decode()
    assert repr(done) == f"<tilewright.Compiled net for {CLUSTER.name}>"


def test_a_notebook_shows_the_memory_picture_as_an_image(done: Compiled) -> None:
    shown = done._repr_html_()
    assert shown == done.report._repr_html_()
    assert shown.count("<img") == 1
    assert 'alt="memory plan of net"' in shown
    assert "<style" not in shown  # it would reach the whole notebook


def test_writing_again_removes_what_is_written_no_more(done: Compiled, tmp_path: Path) -> None:
    split = plan("net", layout="split")
    more = sorted(set(split.files) - set(done.files))
    assert more, "a header of its own"
    assert split.write(tmp_path / "out") == ()
    assert done.write(str(tmp_path / "out")) == ()
    written = {
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    assert written == {*done.files, MANIFEST}


def test_a_file_that_was_changed_stays_and_is_told(done: Compiled, tmp_path: Path) -> None:
    done.write(tmp_path)
    (tmp_path / "net.c").write_text("mine", encoding="utf-8")
    assert [item.code for item in plan("other").write(tmp_path)] == ["TW1121"]
    assert (tmp_path / "net.c").read_text(encoding="utf-8") == "mine"


def test_an_empty_name_is_no_folder(done: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TilewrightError, match="TW1107"):
        done.write("")
    assert list(tmp_path.iterdir()) == []
    done.write(".")
    assert (tmp_path / "net.c").exists()
