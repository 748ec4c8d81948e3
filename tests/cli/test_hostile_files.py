"""Files that are to hurt who compiles them: each is refused, or compiled and right, in 5 CPU seconds and 512 MiB.

What is refused gets a code, and nothing is written; what is compiled passes `validate`, or a shorter one of its kind
does. Families are those of CVEs of the package onnx, and of what its checker and other compilers take or hang on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto

from hostile_bytes import BESIDE, FILES
from hostile_graphs import GRAPHS

KIT = Path(__file__).parents[1] / "kit"
CPU_SECONDS, MIB = 5, 512
COMPILED = frozenset(
    {
        "a field of 2^29", "20,000 unknown fields in each other", "a million unknown fields", "Slice in steps of -2^63",
        "Trilu from 2^63 - 1", "a loop of -1 trips", "a loop of 20 trips", "a loop of 200 trips",
        "11 branches in each other", "24 branches in each other", "a sum of 100", "a sum of 1,000",
        "a node of 100,000 outputs", "100,000 operator sets", "a thousand nodes backwards", "two nodes of one name",
        "names that differ in case", "names that differ in a dot", "a name that is C", "a producer that is C",
        "a text that is C", "x of a symbol that is C", "a name with a 0", "a name that turns around",
        "weights that are no numbers", "format 200", "format -1",
        "x of -1", "an output declared 2^40",
    }
)  # fmt: skip
LONG = frozenset({"a loop of 200 trips", "a sum of 1,000"})  # to build: shorter ones of their kind are

ALL: Mapping[str, Callable[[Path], ModelProto | bytes]] = {
    **{name: lambda _, make=make: make() for name, make in (*FILES.items(), *GRAPHS.items())},
    **BESIDE,
}


@pytest.fixture(scope="session", name="limited")
def _limited() -> Iterator[Callable[[Path], Any]]:
    """`limited(folder)` compiles `model.onnx` in it, and says what that took."""
    server = subprocess.Popen(
        [sys.executable, KIT / "limited.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def run(folder: Path) -> Any:
        server.stdin.write(f"{folder}\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    yield run
    server.stdin.close()
    assert server.wait(timeout=10) == 0


def test_there_are_enough() -> None:
    assert len(ALL) >= 85
    assert ALL.keys() >= COMPILED


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_a_hostile_file(name: str, limited: Callable[[Path], Any], typed: Any, tmp_path: Path) -> None:
    made = ALL[name](tmp_path)
    file = tmp_path / "model.onnx"
    file.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    before = set(tmp_path.iterdir())
    found = limited(tmp_path)
    said = (tmp_path / "stderr").read_text(encoding="utf-8", errors="replace")
    assert found["cpu"] < CPU_SECONDS and found["mib"] < MIB, found
    assert found["code"] == 0 if name in COMPILED else found["code"] in (3, 4), (found, said)
    if name in COMPILED:
        assert name in LONG or typed(f"validate {file} -t generic --allow-external").code == 0
        return
    assert said.startswith("error[TW") or "\nerror[TW" in said
    assert set(tmp_path.iterdir()) == {*before, tmp_path / "stdout", tmp_path / "stderr"}
