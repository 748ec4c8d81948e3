"""The generated files, read and reviewed by a person; `python tools/regenerate.py golden` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.emit import EmitOptions, Vector

GOLDEN = Path(__file__).parent.parent / "golden" / "toy"


@pytest.mark.parametrize("io", ["pool", "user"])
def test_files_are_as_reviewed(toy: Any, io: str) -> None:
    graph = toy.graph()
    x = np.arange(10, dtype=np.int8)[None]
    vector = Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(graph, x)})
    options = EmitOptions(
        generator="tilewright 0",
        const_format="c" if io == "pool" else "incbin",
        vectors=(vector,) if io == "pool" else (),
    )
    artifact = toy.artifact(toy.program(graph, io=io), options, wanted=() if io == "pool" else ("lifetimes",))
    folder = GOLDEN / io
    shown = {name: content for name, content in artifact.files.items() if not name.endswith(".bin")}
    if os.environ.get("UPDATE_GOLDEN"):
        toy.write(type(artifact)(files=shown), folder)
    assert sorted(shown) == sorted(path.name for path in folder.iterdir())
    for name, content in shown.items():
        assert content.decode() == (folder / name).read_text(), name


def test_every_line_is_short_plain_and_clean() -> None:
    for path in sorted(GOLDEN.rglob("*.*")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            assert len(line) <= 130, f"{path.name}:{number}"
            assert line == line.rstrip(), f"{path.name}:{number}"
            assert line.isascii(), f"{path.name}:{number}"
