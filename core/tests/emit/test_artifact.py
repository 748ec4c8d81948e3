"""What an artifact is to a build system."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.emit import EmitOptions, Vector


def test_an_artifact_knows_its_parts(toy: Any) -> None:
    artifact = toy.artifact(toy.program(toy.graph()), EmitOptions(const_format="incbin"))
    assert (artifact.prefix, artifact.sources) == ("toy", ("toy.c", "toy_simple.c", "toy_weights.S"))
    assert (artifact.headers, artifact.blobs) == (("toy.h", "toy_quantize.h", "tw_runtime.h"), ("toy_flash.bin",))
    assert (artifact.assembled, artifact.selftest, artifact.maths) == (("toy_weights.S",), "", False)
    floats = toy.artifact(toy.program(toy.float_graph(), "two"))
    assert (floats.prefix, floats.maths, floats.blobs) == ("two", True, ())


def test_the_parameters_are_those_that_the_header_declares(toy: Any) -> None:
    artifact = toy.artifact(toy.program(toy.graph()))
    declared = [f"{one.type} {one.name}[{one.elements}]" for one in artifact.parameters]
    assert f"tw_status toy(const {', '.join(declared)});" in artifact.files["toy.h"].decode()
    assert [one.is_input for one in artifact.parameters] == [True, False]
    assert [one.value for one in artifact.parameters] == [*toy.graph().inputs, *toy.graph().outputs]
    assert artifact.pools == ("ram",) and artifact.simple


def test_a_network_without_the_simple_api(toy: Any) -> None:
    artifact = toy.artifact(toy.program(toy.graph()), EmitOptions(const_format="bin"))
    assert not artifact.simple and [one.name for one in artifact.parameters] == ["mfcc_0", "scores"]


def test_the_self_test_is_no_part_of_the_library(toy: Any) -> None:
    graph, x = toy.graph(), np.arange(10, dtype=np.int8)[None]
    vectors = (Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(graph, x)}),)
    artifact = toy.artifact(toy.program(graph), EmitOptions(vectors=vectors))
    assert artifact.selftest == "toy_selftest.c" and artifact.selftest not in artifact.sources
