"""What an artifact is to a build system: read off its files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.emit import EmitOptions
from tilewright.exporters.library import library_of


def test_library_knows_the_parts(toy: Any) -> None:
    program = toy.program(toy.graph())
    library = library_of(toy.artifact(program, EmitOptions(const_format="incbin")))
    assert library.sources == ("toy.c", "toy_simple.c", "toy_weights.S")
    assert (library.headers, library.blobs) == (("toy.h", "toy_quantize.h", "tw_runtime.h"), ("toy_flash.bin",))
    assert (library.assembled, library.selftest, library.maths) == (("toy_weights.S",), "", False)
    assert library.parameters is not None
    assert [(one.name, one.type, one.is_input) for one in library.parameters] == [
        ("mfcc_0", "int8_t", True),
        ("scores", "int8_t", False),
    ]
    floats = library_of(toy.artifact(toy.program(toy.float_graph(), "two")))
    assert (floats.prefix, floats.maths, floats.blobs) == ("two", True, ())


def test_a_network_without_the_simple_api(toy: Any) -> None:
    artifact = toy.artifact(toy.program(toy.graph()))
    files = {name: text for name, text in artifact.files.items() if name != "toy_simple.c"}
    assert library_of(replace(artifact, files=files)).parameters is None


def test_the_self_test_is_no_part_of_the_library(toy: Any) -> None:
    artifact = toy.artifact(toy.program(toy.graph()))
    library = library_of(replace(artifact, files={**artifact.files, "toy_selftest.c": b"", "toy_more.c": b""}))
    assert library.selftest == "toy_selftest.c" and library.selftest not in library.sources
    assert "toy_more.c" in library.sources


def test_a_header_that_declares_something_else(toy: Any) -> None:
    artifact = toy.artifact(toy.program(toy.graph()))
    with pytest.raises(RuntimeError, match=r"toy.h does not declare toy\(\)"):
        library_of(replace(artifact, files={**artifact.files, "toy.h": b"tw_status other(const int8_t x[N]);"}))
