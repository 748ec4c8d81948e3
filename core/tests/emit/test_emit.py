"""The files that a program becomes: the same bytes each time, ASCII, and those that the options ask for."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, Vector
from tilewright.emit.emit import INCBIN_FROM_BYTES, _sections, _usual, text
from tilewright.errors import TilewrightError
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.cluster import CLUSTER, registry_for

ALWAYS = {"toy.h", "toy.c", "tw_runtime.h", "CMakeLists.txt", "README.md"}


def files(toy: Any, program: Any = None, **options: Any) -> dict[str, bytes]:
    found: dict[str, bytes] = toy.artifact(program or toy.program(toy.graph()), EmitOptions(**options)).files
    return found


def test_the_same_program_and_options_give_the_same_bytes_in_the_same_order(toy: Any) -> None:
    one, other = files(toy), files(toy)
    assert list(one.items()) == list(other.items()) and list(one) == sorted(one)
    assert all(content.isascii() for name, content in one.items() if not name.endswith(".bin"))


def test_every_program_has_its_files_and_some_have_more(toy: Any) -> None:
    assert files(toy).keys() == ALWAYS | {"toy_simple.c", "toy_weights.c", "toy_quantize.h"}
    plain = toy.program(toy.float_graph())  # no constants, nothing quantised
    assert files(toy, plain).keys() == ALWAYS | {"toy_simple.c"}


def test_constants_that_are_loaded_leave_no_simple_api_and_no_selftest(toy: Any) -> None:
    """Nobody has told them where the constants are."""
    found = files(toy, const_format="bin")
    assert "toy_simple.c" not in found and "toy_flash.bin" in found
    with pytest.raises(TilewrightError, match=r"TW1101.*exclude each other"):
        files(toy, const_format="bin", vectors=(Vector(inputs={}, outputs={}),))


@pytest.mark.parametrize(("more", "form"), [(-1, ".c"), (0, ".S")])
def test_from_64_kib_on_constants_are_no_c(toy: Any, more: int, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = toy.program(toy.graph())
    size = sum(pool.size_bytes for pool in program.constants)
    assert INCBIN_FROM_BYTES == 64 * 1024
    monkeypatch.setattr(sys.modules["tilewright.emit.emit"], "INCBIN_FROM_BYTES", size - more)
    assert f"toy_weights{form}" in files(toy, program)


def test_a_name_of_a_model_gets_into_no_comment_as_it_is(toy: Any) -> None:
    """`/bias/*/evil` would end a comment."""
    source = files(toy)["toy.c"].decode()
    assert source.count("/*") == source.count("*/")


def test_a_section_that_is_named_replaces_the_one_that_follows_from_the_pool(toy: Any) -> None:
    program = toy.program(toy.graph())
    assert _sections(program) == {"flash": ".rodata.tw.toy.flash", "ram": ".bss.tw.ram"}
    (pool,) = program.pools
    assert _sections(replace(program, pools=(replace(pool, section=".mine"),)))["ram"] == ".mine"


def test_the_usual_size_of_a_type_leaves_out_what_is_no_number() -> None:
    values = np.array([np.nan, np.inf, -7.5, 2], np.float32)
    options = EmitOptions(vectors=(Vector(inputs={}, outputs={"y": values, "z": np.array([99.0])}),))
    assert _usual(DType.F32, options) == 2  # the lower of two; the 99 is a float64
    assert _usual(DType.F64, options) == 99
    assert _usual(DType.F16, options) == 1
    assert _usual(DType.F32, EmitOptions()) == 1


def test_the_texts_are_found_in_the_package() -> None:
    assert text("tw_runtime.h").startswith("/*") and text("tw_runtime.h") is text("tw_runtime.h")
    with pytest.raises(FileNotFoundError):
        text("nothing.mako")


@pytest.mark.parametrize(("clip", "wanted"), [("Relu", True), ("", False)])
def test_a_limit_that_is_infinite_brings_the_header_that_defines_it(clip: str, wanted: bool) -> None:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 6]) for name in ("a", "b", "y")]
    steps = [helper.make_node("Sub", ["a", "b"], ["c" if clip else "y"])]
    if clip:
        steps.append(helper.make_node(clip, ["c"], ["y"]))
    graph = helper.make_graph(steps, "g", ends[:2], ends[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    made = Deployment(model.SerializeToString(), CLUSTER.name, registry=registry_for(CLUSTER)).files
    code = next(data for name, data in made.items() if name.endswith(".c") and b"tw_sub" in data)
    assert (b"INFINITY" in code, b"#include <math.h>" in code) == (wanted, wanted)


@pytest.mark.parametrize("io", ["pool", "user"])
def test_lines_are_within_the_width_whatever_the_network_is_called(toy: Any, io: str) -> None:
    program = replace(toy.program(toy.graph(), io=io), prefix="keyword_spotting_of_the_front_door_two")
    ends = {
        name: {port.value: np.zeros(port.tensor.shape, np.int8) for port in getattr(program, name)}
        for name in ("inputs", "outputs")
    }
    lines = [
        line
        for name, text in files(toy, program, vectors=(Vector(**ends),)).items()
        if name.endswith((".c", ".h"))
        for line in text.decode().split("\n")
    ]
    assert len(lines) > 500 and [line for line in lines if len(line) > 120] == []


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
