"""`tilewright compile`: what it writes and tells, and which words exclude each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tilewright.cli.commands.compile_command import STAGES

pytestmark = pytest.mark.usefixtures("on_cluster")


@pytest.fixture(name="compiled")
def _compiled(run: Any, model: Path, tmp_path: Path) -> Any:
    """`compiled("--quiet", into="out")`: the model, compiled into a folder below `tmp_path`."""
    return lambda *words, into="out": run("compile", model, "-t", "cluster-test", "-o", tmp_path / into, *words)


def test_the_folder_is_on_stdout_and_has_what_the_report_lists(compiled: Any, tmp_path: Path) -> None:
    said = compiled()
    assert (said.code, said.out) == (0, f"{tmp_path / 'out'}\n")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    listed = {item["path"] for item in report["artifacts"]}
    ours = {"report.json", "report.html", "tilewright-manifest.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == listed | ours
    assert f"wrote {len(listed) + 2} files" in said.err


def test_quiet_says_the_folder_alone_and_json_replaces_it(compiled: Any, tmp_path: Path) -> None:
    assert compiled("--quiet").err == ""
    said = compiled("--quiet", "--json", "-")
    assert json.loads(said.out) == json.loads((tmp_path / "out" / "report.json").read_text())


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_printed_on_stderr(compiled: Any, stage: str) -> None:
    assert "tiply" in compiled("--quiet", "--dump-after", stage).err


def test_a_saved_stage_gives_the_same_files(compiled: Any, tmp_path: Path) -> None:
    assert compiled("--export-state", f"tiled={tmp_path / 'state'}").code == 0
    again = compiled("--import-state", tmp_path / "state", into="again")
    assert again.code == 0, again.err
    for file in (tmp_path / "out").glob("*.[ch]"):
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes(), file.name


@pytest.mark.parametrize("request_", ["tiled", "tiled=", "=folder", "imported=folder", "program=folder"])
def test_a_stage_that_cannot_be_saved_is_said_with_those_that_can(compiled: Any, request_: str) -> None:
    said = compiled("--export-state", request_)
    assert (
        said.code == 2 and "error[TW1101]" in said.err and "rewritten, bound, scheduled, tiled, allocated" in said.err
    )


def test_a_folder_that_cannot_be_written_is_said_before_any_work(run: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for words in (("-o", tmp_path / "file"), ("-o", tmp_path / "a", "--export-state", f"tiled={tmp_path / 'file'}")):
        said = run("compile", tmp_path / "none.onnx", "-t", "cluster-test", *words)
        assert said.code == 2 and "error[TW1107]" in said.err, said.err


def test_with_strict_a_warning_leaves_nothing_behind(compiled: Any, tmp_path: Path) -> None:
    pools = ("--pool", "l2:1M", "--pool", "l1:64K", "--pool", "flash:16,ro,soft")
    assert compiled(*pools, "--strict").code == 2
    assert not (tmp_path / "out").exists()
    assert compiled(*pools).code == 0


@pytest.mark.parametrize(("words", "missing"), [((), "MODEL"), (("net.onnx",), "--target")])
def test_a_model_and_a_target_are_needed_without_a_group(
    run: Any, tmp_path: Path, words: tuple[str, ...], missing: str
) -> None:
    said = run("compile", *words, "-o", tmp_path / "out")
    assert said.code == 2 and missing in said.err


@pytest.mark.parametrize(
    "words",
    [
        ("net.onnx",),
        ("--target", "cluster-test"),
        ("--emit", "make"),
        ("--dump-after", "tiled"),
        ("--export-state", "tiled=state"),
        ("--import-state", "state"),
        ("--name", "eyes"),
    ],
    ids=" ".join,
)
def test_what_is_about_one_model_is_refused_for_a_group(run: Any, tmp_path: Path, words: tuple[str, ...]) -> None:
    """It would be said and not done."""
    said = run("compile", "--group", tmp_path / "none.toml", "-o", tmp_path / "out", *words)
    assert said.code == 2 and "error[TW1100]" in said.err and "--group" in said.err, said.err


def test_a_group_shares_memory_and_says_what_each_model_takes(run: Any, model: Path, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(
        'target = "cluster-test"\n[models]\nleft = "net.onnx"\nright = "net.onnx"\n', encoding="utf-8"
    )
    said = run("compile", "--group", tmp_path / "app.toml", "-o", tmp_path / "app", "--clock", "1MHz")
    assert said.code == 0, said.err
    report = json.loads((tmp_path / "app" / "report.json").read_text())
    assert sorted(report["models"]) == ["left", "right"] and model.exists()
    head, *rows = [line.split() for line in said.err.splitlines()]
    assert head == ["pool", "shared", "left", "right"]
    told = {row[0]: int(row[1].replace(",", "")) for row in rows if len(row) == 7}
    assert told == {pool["name"]: pool["used_bytes"] for pool in report["pools"]}
    assert "left: " in said.err and " ms" in said.err
