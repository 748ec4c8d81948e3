"""The same model gives the same bytes: in two runs, under two hash seeds, in two folders, with clocks that differ."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from networks import NETWORKS, network_file

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]
SLOW = "resnet8_f32"
NETWORKS = (
    *sorted((ROOT / "examples" / "digits").glob("*.onnx")),
    *(network_file(name) for name in NETWORKS if name != SLOW),
    pytest.param(network_file(SLOW), marks=pytest.mark.long),
)


def content(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS, ids=lambda path: path.stem)
def test_the_same_bytes(process: Run, network: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "another folder"
    elsewhere.mkdir()
    copy = Path(shutil.copy(network, elsewhere))
    flags = ("-t", "generic", "--selftest", "--const-format", "incbin", "--memory", "ram=1M")
    runs = (
        (("compile", network, *flags, "-o", tmp_path / "a"), {"PYTHONHASHSEED": "1", "TZ": "UTC"}),
        (("compile", copy.name, *flags, "-o", "b"), {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C"}),
    )
    states = (("--export-state", f"allocated={tmp_path / 'sa'}"), ("--export-state", "allocated=sb"))
    said = []
    for (words, environment), state in zip(runs, states, strict=True):
        finished = process(*words, *state, "--json", "-", cwd=elsewhere, env=environment)
        assert finished.code == 0, finished.err
        said.append((finished.out, finished.err))
    assert said[0] == said[1]
    assert content(tmp_path / "a") == content(elsewhere / "b")
    assert content(tmp_path / "sa") == content(elsewhere / "sb")
    assert len(content(tmp_path / "a")) >= 7


def test_no_file_knows_where_it_was_made(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    assert tilewright("compile", int8, "-t", "generic", "-o", tmp_path / "out", "--selftest").code == 0
    for path in (tmp_path / "out").iterdir():
        text = path.read_bytes()
        assert str(tmp_path).encode() not in text, path.name
        assert str(int8.parent).encode() not in text, path.name
