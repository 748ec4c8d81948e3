"""Prebuilt libraries of kernels stand beside the sources, by their own names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.programs.program import Program


def linking(program: Program, paths: dict[str, Path]) -> Program:
    """The program, whose kernels of these names link these files."""
    allocated = program.allocated
    tiled, scheduled, bound = allocated.tiled, allocated.tiled.scheduled, allocated.tiled.scheduled.bound
    bindings = {
        node: replace(binding, kernel=replace(binding.kernel, libraries=_named(paths, binding.kernel.name)))
        for node, binding in bound.bindings.items()
    }
    scheduled = replace(scheduled, bound=replace(bound, bindings=bindings))
    return replace(program, allocated=replace(allocated, tiled=replace(tiled, scheduled=scheduled)))


def _named(paths: dict[str, Path], kernel: str) -> tuple[str, ...]:
    return (str(paths[kernel]),) if kernel in paths else ()


def test_they_are_files_of_the_program_and_sources_of_nothing(toy: Any, tmp_path: Path) -> None:
    library = tmp_path / "libacme.a"
    library.write_bytes(b"!<arch>\n\xff")
    program = linking(toy.program(toy.graph()), dict.fromkeys(("portable.toy_bias", "acme.toy_reverse"), library))
    artifact = toy.artifact(program)
    assert artifact.libraries == ("libacme.a",)
    assert artifact.files["libacme.a"] == b"!<arch>\n\xff"
    plain = toy.artifact(toy.program(toy.graph()))
    assert (artifact.sources, artifact.blobs, plain.libraries) == (plain.sources, plain.blobs, ())


def test_one_that_is_not_there_is_told_with_its_kernel(toy: Any, tmp_path: Path) -> None:
    program = linking(toy.program(toy.graph()), {"acme.toy_reverse": tmp_path / "libgone.a"})
    reason = "kernel 'acme.toy_reverse' links 'libgone.a', which cannot be read"
    with pytest.raises(TilewrightError, match=reason) as caught:
        toy.artifact(program)
    assert (caught.value.code, caught.value.exit_code) == ("TW9024", 8)


def test_two_of_one_name_must_be_the_same(toy: Any, tmp_path: Path) -> None:
    paths = {}
    for number, kernel in enumerate(("portable.toy_bias", "acme.toy_reverse")):
        paths[kernel] = tmp_path / str(number) / "libacme.a"
        paths[kernel].parent.mkdir()
        paths[kernel].write_bytes(bytes([number]))
    reason = "'acme.toy_reverse' and 'portable.toy_bias' link different files"
    with pytest.raises(TilewrightError, match=reason) as caught:
        toy.artifact(linking(toy.program(toy.graph()), paths))
    assert caught.value.code == "TW9025"
