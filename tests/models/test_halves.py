"""A network of float16 or bfloat16, end to end: sanitised on the host, on every target, in tiles, saved and printed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import tilewright
from tilewright.api.testing import STRICT
from tilewright.ir.tensors.dtypes import DType

TYPES = {TensorProto.FLOAT16: DType.F16, TensorProto.BFLOAT16: DType.BF16}
halves = pytest.mark.parametrize("element", TYPES, ids=[dtype.value for dtype in TYPES.values()])
PLACES = {
    "generic": {},
    "cortex-m": {},
    "siracusa": {"memory": {"l1": "9K"}},
    "snitch": {"memory": {"tcdm": "9K"}},
}


def network(element: int) -> ModelProto:
    """Convolutions, products and elementwise operators, others between Casts, a float32 part, one output of each."""
    numbers, made = np.random.default_rng(1), []

    def weights(name: str, *shape: int) -> str:
        array = (numbers.standard_normal(shape) * 0.3).astype(TYPES[element].numpy)
        made.append(numpy_helper.from_array(array, name))
        return name

    node = helper.make_node
    nodes = [
        node("Conv", ["x", weights("w1", 8, 3, 3, 3), weights("b1", 8)], ["c1"], pads=[1, 1, 1, 1]),
        node("Relu", ["c1"], ["r1"]),
        node("Conv", ["r1", weights("w2", 8, 1, 3, 3)], ["c2"], pads=[1, 1, 1, 1], group=8),
        node("Add", ["c2", "r1"], ["a1"]),
        node("MaxPool", ["a1"], ["m1"], kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", ["m1"], ["g1"]),
        node("Flatten", ["g1"], ["f1"]),
        node("Gemm", ["f1", weights("w3", 8, 10), weights("b3", 10)], ["d1"], alpha=0.5),
        node("MatMul", ["d1", weights("w4", 10, 6)], ["d2"]),
        node("Cast", ["d2"], ["single"], to=TensorProto.FLOAT),
        node("Tanh", ["single"], ["t1"]),
        node("Cast", ["t1"], ["t2"], to=element),
        node("Softmax", ["t2"], ["y"], axis=-1),
    ]
    value = helper.make_tensor_value_info
    outputs = [value("y", element, [1, 6]), value("single", TensorProto.FLOAT, [1, 6])]
    graph = helper.make_graph(nodes, "half", [value("x", element, [1, 3, 16, 16])], outputs, made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
    model.ir_version = 10
    return model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("element", "target"),
    [
        (TensorProto.FLOAT16, "generic"),
        (TensorProto.BFLOAT16, "generic"),
        (TensorProto.FLOAT16, "cortex-m"),
        (TensorProto.BFLOAT16, "cortex-m"),
        (TensorProto.FLOAT16, "siracusa"),
        pytest.param(TensorProto.BFLOAT16, "siracusa", marks=pytest.mark.long),
        pytest.param(TensorProto.FLOAT16, "snitch", marks=pytest.mark.long),
        (TensorProto.BFLOAT16, "snitch"),
    ],
)
def test_every_step_is_its_reference(element: int, target: str) -> None:
    compiled = tilewright.compile(network(element), target, **PLACES[target])
    assert compiled.validate(sanitize=target == "generic").passed


@halves
def test_the_header_says_what_is_stored(element: int) -> None:
    files = tilewright.compile(network(element), "generic", name="half").files
    header = files["half.h"].decode()
    assert f"{TYPES[element].numpy.name} (as its bits) [1, 3, 16, 16]" in header
    assert "const uint16_t *x" in header


@halves
def test_a_state_comes_back(element: int, tmp_path: Path) -> None:
    compiled = tilewright.compile(network(element), "generic")
    compiled.deployment.export_state(tmp_path / "state")
    again = tilewright.compile(network(element), "generic", import_state=tmp_path / "state")
    assert again.files == compiled.files


@halves
def test_tensors_are_printed_as_numbers(element: int) -> None:
    compiled = tilewright.compile(network(element), "generic", code_pass=("print-tensors",))
    assert compiled.validate().passed
    text = b"\n".join(content for name, content in compiled.files.items() if name.endswith((".c", ".h")))
    assert f"(double)tw_f32_of_{TYPES[element].value}(values[i])".encode() in text


def self_test(element: int) -> dict[str, str]:
    files = tilewright.compile(network(element), "generic", name="half", selftest=True).files
    return {name: content.decode() for name, content in files.items() if name.endswith((".c", ".h"))}


def ran(texts: dict[str, str], folder: Path, tool: Callable[[str], str]) -> int:
    """The exit status of the self-test."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    sources = sorted(name for name in texts if name.endswith(".c") and name != "half_simple.c")
    subprocess.run([tool("cc"), *STRICT, "-o", "program", *sources, "-lm"], cwd=folder, check=True)
    return subprocess.run([folder / "program"], check=False).returncode


@pytest.mark.slow
@halves
@pytest.mark.parametrize(("units", "status"), [(0, 0), (8, 0), (64, 1)], ids=["right", "rounded otherwise", "wrong"])
def test_the_self_test(element: int, units: int, status: int, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """A float32 behind floats of 16 bits may be as far off as they: the last one expected is moved by so many units."""
    texts = self_test(element)
    moved = rf"\1 + {units * TYPES[element].unit!r}f\n}};"
    texts["half_selftest.c"] = re.sub(r"(out_0_single\[[^;]*?)\n};", moved, texts["half_selftest.c"])
    assert ran(texts, tmp_path, tool) == status


@halves
def test_the_self_test_of_stored_halves(element: int, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Another exponent of the last one that is expected is wrong."""
    texts = self_test(element)
    bit = 0x0800 if TYPES[element] is DType.F16 else 0x0100
    texts["half_selftest.c"] = re.sub(r"(out_0_y\[[^;]*?)\n};", rf"\1 ^ {bit:#x}\n}};", texts["half_selftest.c"])
    assert ran(texts, tmp_path, tool) == 1
