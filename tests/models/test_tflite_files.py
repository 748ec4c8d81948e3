"""TensorFlow Lite files are networks like others: on every kind of target, with flags, and with state of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flat_models import file_of, front_end, remembering_network, small_network, wide_network
from frame_models import frames_network

import tilewright
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError

RUNNERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (  # runner, target, what it needs
    ("host", "generic", ("cc",)),
    ("qemu-cortex-m", "cortex-m55", ("arm-none-eabi-gcc", "qemu-system-arm")),
    ("twin", "siracusa", ("cc",)),
)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A convolution, a pool, a dense layer and a softmax. The file's name says nothing: its bytes do."""
    file = tmp_path / "small.bin"
    file.write_bytes(file_of(small_network()))
    return file


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Values of 16 bits."""
    file = tmp_path / "wide.tflite"
    file.write_bytes(file_of(wide_network()))
    return file


@pytest.fixture
def front(tmp_path: Path) -> Path:
    """Operators of signals, one of which keeps state."""
    file = tmp_path / "front.tflite"
    file.write_bytes(file_of(front_end()))
    return file


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """The last three frames, at first 1, 2, 3."""
    file = tmp_path / "ring.tflite"
    file.write_bytes(remembering_network())
    return file


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    """Operators that cut a stream and join it again, all of which keep state."""
    file = tmp_path / "frames.tflite"
    file.write_bytes(frames_network())
    return file


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "tilewright", *words]
    return subprocess.run(run, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


@pytest.mark.parametrize(("runner", "target", "needed"), RUNNERS, ids=[one[0] for one in RUNNERS])
@pytest.mark.parametrize("network", ["small", "ring", "wide", "front", "frames"])
def test_every_step_is_exact(
    network: str,
    runner: str,
    target: str,
    needed: tuple[str, ...],
    tool: Callable[[str], str],
    request: pytest.FixtureRequest,
) -> None:
    for one in needed:
        tool(one)
    validation = tilewright.compile(request.getfixturevalue(network), target).validate(on=runner, sets=3)
    assert validation.passed


def test_images_stay_channels_last_and_no_step_moves_them(small: Path) -> None:
    deployment = Deployment(small, "generic")
    assert deployment.inputs["image"].shape == (1, 6, 6, 1)
    steps = [step.name for step in deployment.scheduled.steps if step.copies]
    assert steps == ["CONV_2D_0", "MAX_POOL_2D_1", "FULLY_CONNECTED_3", "SOFTMAX_4"]


def test_state_is_kept_without_a_flag_and_through_a_saved_state(ring: Path, tmp_path: Path) -> None:
    deployment = Deployment(ring, "generic")
    assert list(deployment.inputs) == ["x"] and list(deployment.outputs) == ["y"]
    (state,) = deployment.states
    assert (state.input, state.output, state.initial.tolist()) == ("ring", "ring_next", [[1, 2, 3]])
    for stage in ("rewritten", "bound", "allocated"):
        deployment.export_state(tmp_path / stage, stage)
        again = Deployment(ring, "generic").import_state(tmp_path / stage)
        assert [(each.input, each.initial.tolist()) for each in again.states] == [("ring", [[1, 2, 3]])], stage
        assert again.artifact.files == deployment.artifact.files, stage


def test_a_flag_about_state_overrules_the_file(ring: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "first.npy", np.int8([[7, 8, 9]]))
    compiled = tilewright.compile(ring, "generic", state=[f"ring_next:ring={tmp_path / 'first.npy'}"])
    assert compiled.deployment.states[0].initial.tolist() == [[7, 8, 9]]
    with pytest.raises(TilewrightError, match="is state, which the application never sees"):
        tilewright.compile(ring, "generic", io=["ring=user"])


def test_another_runtime_is_asked_about_the_same_network(small: Path, tool: Callable[[str], str]) -> None:
    tool("cc")
    done = command("validate", str(small), "--target", "generic", "--against", "onnx-reference")
    assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr


def test_without_the_package_the_next_step_is_to_install_it(small: Path) -> None:
    done = command("check", str(small), "--target", "generic", TILEWRIGHT_BLOCK="tilewright-tflite")
    assert done.returncode == 3 and "pip install tilewright-tflite" in done.stdout + done.stderr


def test_damage_is_said_of_the_format_that_the_name_says(tmp_path: Path) -> None:
    file = tmp_path / "net.tflite"
    file.write_bytes(b"something else")
    done = command("check", str(file), "--target", "generic")
    assert done.returncode == 3 and "no readable TensorFlow Lite file" in done.stdout + done.stderr


def test_layers_of_16_bits_are_integers_in_twice_the_bytes(wide: Path) -> None:
    graph = Deployment(wide, "generic").bound.graph
    moves = {"Transpose", "Reshape"}
    assert [node.op for node in graph.nodes if node.op not in moves] == ["QConv", "QRescale", "QAdd", "QRescale"]
    sizes = {node.op: graph.tensors[node.outputs[0]].dtype.size_bytes for node in graph.nodes[:-1]}
    assert set(sizes.values()) == {2}
