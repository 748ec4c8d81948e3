"""An Arduino library without its folder. That it is one by the specification: test_build_systems.py."""

from __future__ import annotations

from typing import Any

from tilewright.emit import EmitOptions
from tilewright.exporters.arduino import library_files, sketch


def test_constants_are_c_whatever_they_were(toy: Any) -> None:
    artifact = toy.artifact(toy.program(toy.graph()), EmitOptions(const_format="incbin"))
    files = library_files(artifact)
    assert not any(name.endswith(".S") for name in files)
    assert b"toy_const_flash" in files["src/toy_weights.c"]
    assert files["examples/toy_run/toy_run.ino"] == sketch(artifact).encode()
