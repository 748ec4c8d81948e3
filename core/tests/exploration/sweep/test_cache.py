"""Rows that are known: by content of network and files, flags and versions; a bug is not kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from core.tests.exploration.sweep.points_kit import point
from tilewright import __version__
from tilewright.exploration.sweep.cache import Cache, installed_versions, named_files

ROW = json.dumps({"code": "", "fits": True})


def test_a_row_is_found_again_until_something_changes(tmp_path: Path) -> None:
    net = tmp_path / "net.onnx"
    net.write_bytes(b"one")
    cache = Cache(folder=tmp_path / "cache", versions={"tilewright": "1"})
    assert cache.found(point(net)) is None
    cache.keep(point(net), ROW)
    assert cache.found(point(net)) == ROW
    moved = net.rename(tmp_path / "moved.onnx")
    assert cache.found(point(moved)) == ROW
    assert cache.found(point(moved, groups=1)) is None and cache.found(point(moved, "other")) is None
    assert Cache(folder=cache.folder, versions={"tilewright": "2"}).found(point(moved)) is None
    moved.write_bytes(b"another")
    assert cache.found(point(moved)) is None


def test_files_that_flags_name_count(tmp_path: Path) -> None:
    net, array = tmp_path / "net.onnx", tmp_path / "bias.npy"
    net.write_bytes(b"one")
    np.save(array, np.zeros(2))
    asked = point(net, bind={"b": str(array)}, state=[f"o:i={array}"])
    assert set(named_files(asked.flags)) == {array}
    cache = Cache(folder=tmp_path / "cache", versions={})
    cache.keep(asked, ROW)
    assert cache.found(asked) == ROW
    np.save(array, np.ones(3))
    assert cache.found(asked) is None


def test_bugs_and_broken_files_are_worked_out_again(tmp_path: Path) -> None:
    cache = Cache(folder=tmp_path, versions={})
    cache.keep(point(), json.dumps({"code": "TW9001"}))
    assert cache.found(point()) is None
    cache.keep(point(), ROW)
    (file,) = tmp_path.rglob("*.json")
    file.write_text('{"code"')
    assert cache.found(point()) is None


def test_versions_are_those_of_all_packages() -> None:
    assert installed_versions()["tilewright"] == __version__
