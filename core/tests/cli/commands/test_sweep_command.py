"""`tilewright sweep`: the points that nothing beats, files of all of them, and what is wrong with a sweep."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from core.tests.exploration.chain import model
from row_networks import ONE_MEMORY
from tilewright.cli.commands import sweep_command
from tilewright.plugins.catalogue import Catalogue, Offer, Package
from tilewright.testing.cluster import registry_for

TARGET = ("--target", ONE_MEMORY.name, "--processes", 1)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(ONE_MEMORY))
    offers = (Offer(kind="platform", name=ONE_MEMORY.name, reference="m"),)
    catalogue = Catalogue(packages=(Package(name="p", version="1", requirement="", offers=offers),))
    monkeypatch.setattr("tilewright.exploration.sweep.sweep.discover", lambda: catalogue)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(name="net")
def _net(tmp_path: Path) -> Path:
    (tmp_path / "net.onnx").write_bytes(model())
    return tmp_path / "net.onnx"


@pytest.mark.slow
def test_the_front_is_shown_and_all_of_it_written(run: Any, net: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"s.{suffix}" for suffix in ("csv", "json", "html")]
    outputs = [word for file in files for word in ("-o", file)]
    said = run("sweep", net, *TARGET, "--memory", "fast=1K,64K", "--optimize", "speed,ram", *outputs)
    head, columns, *rows, last = said.out.splitlines()
    assert said.code == 0 and head.startswith("net: 4 points, 2 fit, ")
    assert columns.split()[:3] == ["target", "RAM", "flash"] and len(rows) >= 1
    assert last.startswith(f"  Next: tilewright check {net} --target {ONE_MEMORY.name} --memory ram=")
    lines = list(csv.DictReader(files[0].open(encoding="utf-8")))
    assert [line["fits"] for line in lines] == ["False", "True", "False", "True"]
    assert [row["code"] for row in json.loads(files[1].read_text())] == ["TW5001", "", "TW5001", ""]
    assert "<canvas" in files[2].read_text("utf-8")
    assert len(list((tmp_path / "cache").rglob("*.json"))) == 4
    assert run("sweep", net, *TARGET, "--memory", "fast=1K,64K", "--optimize", "speed,ram").out == said.out


@pytest.mark.slow
def test_a_file_and_flags_together(run: Any, net: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('models = ["net.onnx"]\n[memory]\nram = ["64K", "128K"]\n')
    said = run("sweep", tmp_path / "s.toml", *TARGET, "--vary", "seed=1,2", "--cache", "none")
    kept = [file for file in (tmp_path / "cache").rglob("*") if file.is_file() and "templates" not in file.parts]
    assert said.out.startswith("net: 4 points, 4 fit, ") and kept == []


@pytest.mark.slow
def test_nothing_fits(run: Any, net: Path) -> None:
    said = run("sweep", net, *TARGET, "--memory", "ram=1K")
    wrong = run("sweep", net, *TARGET, "--memory", "rom=1K")
    assert "net: 1 point, 0 fit" in wrong.out and "(TW1103)" in wrong.err and "more memory" not in wrong.err
    assert f"tilewright check {net} " in wrong.err and "--memory rom=1" in wrong.err
    assert "vary what gives it more memory" in said.err
    assert said.code == 5 and "error[TW5007]: no point of net fits" in said.err and "(TW5001)" in said.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("-o", "table.xls"), "TW1101"),
        (("--memory", "ram"), "TW1412"),
        (("--vary", "=3"), "TW1412"),
        (("--memory", "ram=64K..1K"), "TW1412"),
        (("--optimize", "fast"), "TW1101"),
        (("--target", "other"), "TW1101"),
    ],
)
def test_what_cannot_be_read(run: Any, net: Path, words: tuple[str, ...], code: str) -> None:
    said = run("sweep", net, *TARGET, *words)
    assert said.code == 2 and f"error[{code}]" in said.err and "try:" in said.err


def test_how_far_it_is_stands_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    count = sweep_command._Count(started=0.0, moves=True)
    count.heard(1, 2, {"code": "TW9001"})
    count.heard(2, 2, {"code": ""})
    count.end()
    assert "1 of 2 points, 1 failed, " in capsys.readouterr().err
    silent = sweep_command._Count(started=0.0, moves=False)
    silent.heard(1, 1, {"code": ""})
    silent.end()
    assert capsys.readouterr().err == ""
