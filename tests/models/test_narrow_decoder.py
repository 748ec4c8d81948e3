"""A decoder of 4-bit weights, one token a run, its cache as state: right step by step, and its bytes are counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tests.kit.narrow_decoder import Decoder, decoder
from tilewright.comparison.reference import run

TOKENS = (3, 17, 3, 60, 5)


@pytest.fixture(name="made", scope="module")
def _made() -> Decoder:
    return decoder()


@pytest.fixture(name="file", scope="module")
def _file(made: Decoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("decoder") / "decoder.onnx"
    path.write_bytes(made.model)
    return path


def first(made: Decoder) -> dict[str, tuple[str, float]]:
    """By input: the output that it is next time, and what it is at first."""
    found = {}
    for state in made.states:
        output, rest = state.split(":")
        name, value = rest.split("=")
        found[name] = output, float(value)
    return found


def test_tokens_one_after_the_other_are_as_onnxruntime_has_them(made: Decoder, file: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    deployment = tilewright.compile(file, "generic").deployment
    graph, operators = deployment.rewritten.graph, deployment.registry.operators
    shapes = {name: graph.tensors[name].shape for name in graph.inputs}
    ours = {name: np.full(shapes[name], value, np.float32) for name, (_, value) in first(made).items()}
    theirs = dict(ours)
    for token in TOKENS:
        found = run(graph, {"token": np.array([token]), **ours}, operators)
        names = [one.name for one in session.get_outputs()]
        expected = dict(zip(names, session.run(names, {"token": np.array([token]), **theirs}), strict=True))
        np.testing.assert_allclose(found["logits"], expected["logits"], rtol=1e-4, atol=1e-4)
        ours = {name: found[output] for name, (output, _) in first(made).items()}
        theirs = {name: expected[output] for name, (output, _) in first(made).items()}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cortex-m55", "cortex-m7"])
def test_every_step_is_right_on_the_emulated_core(
    target: str, made: Decoder, file: Path, tool: Callable[[str], str]
) -> None:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(name)
    compiled = tilewright.compile(file, target, state=list(made.states))
    assert compiled.validate(on="qemu-cortex-m", sets=4).passed


def test_weights_take_what_the_file_has_for_them(made: Decoder, file: Path) -> None:
    compiled = tilewright.compile(file, "cortex-m7", state=list(made.states))
    bound = compiled.deployment.bound
    products = [layer for layer in bound.layers.values() if layer.site.node.op == "MatMulNBits"]
    assert len(products) == 2 * 7 + 1
    assert sum(layer.packed["B"].nbytes for layer in products) == made.packed_bytes
    assert sum(array.nbytes for layer in products for array in layer.packed.values()) == (
        made.packed_bytes + made.scale_bytes
    )
