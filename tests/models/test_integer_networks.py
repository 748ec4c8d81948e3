"""Networks of the dialects of tilewright-integer-dialect are networks like others: on all kinds of targets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from dialect_models import Net, scalar
from onnx import TensorProto

import tilewright
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError

RUNNERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (  # runner, target, what it needs
    ("host", "generic", ("cc",)),
    ("qemu-cortex-m", "cortex-m4", ("arm-none-eabi-gcc", "qemu-system-arm")),
    ("twin", "siracusa", ("cc",)),
)


def residual_network() -> Any:
    """Convolutions, a depthwise one among them, around a sum, a pool and a dense layer."""
    net = Net(1)

    def layer(x: str, channels: int, w: str, **words: Any) -> str:
        sums = net.node("Conv", x, w, **words)
        multipliers, addends = (net.rng.integers(1, most, (channels, 1, 1)) for most in (60, 9999))
        return net.shift(sums, multipliers, addends, 1 << 14)

    first = layer(net.input("x", (1, 3, 12, 12)), 8, net.weights(8, 3, 3, 3), pads=[1] * 4)
    depthwise = layer(first, 8, net.weights(8, 1, 3, 3), pads=[1] * 4, group=8)
    second = layer(depthwise, 8, net.weights(8, 8, 1, 1))
    sums = net.node("Add", net.shift(first, 200, 3), net.shift(second, 150, -9))
    pooled = net.node("MaxPool", net.shift(sums, 90, 5, signed=0), kernel_shape=[2, 2], strides=[2, 2])
    scores = net.node("Gemm", net.node("Flatten", pooled), net.weights(10, 288), net.weights(10), transB=1)
    return net.model(net.shift(scores, net.rng.integers(1, 40, 10), 0, 1 << 12))


def transformer_block() -> Any:
    """A head of attention and a gated layer, with every operator of rows that the dialect has."""
    net = Net(2)
    x = net.input("x", (1, 16, 32))
    numbers = {"D": scalar(1024), "n_levels": scalar(256)}
    normal = net.node("iLayerNorm", x, net.weights(32, least=500, most=900), net.weights(32), **numbers)
    q, k, v = (net.shift(net.node("MatMul", normal, net.weights(32, 16)), 40, 99, 1 << 12) for _ in "qkv")
    scores = net.shift(net.node("MatMul", q, net.node("Transpose", k, perm=[0, 2, 1])), 20, 0, 1 << 11)
    words = {"coeffA": scalar(1), "coeffB": scalar(86), "coeffC": scalar(3888), "log2": scalar(64)}
    shares = net.node("iSoftmax", scores, n_levels=scalar(256), **words)
    heads = net.shift(net.node("MatMul", shares, v), 30, 0, 1 << 10)
    mixed = net.shift(net.node("MatMul", heads, net.weights(16, 32)), 40, 0, 1 << 12)
    kept = net.shift(net.node("Add", x, mixed), 160, 0)
    root = net.node("iRMSNorm", kept, net.weights(32, least=500, most=900), **numbers)
    up, gate = (net.shift(net.node("MatMul", root, net.weights(32, 48)), 30, 0, 1 << 12) for _ in "ug")
    swish = net.shift(net.node("iHardswish", gate, three=122, six=244, one_over_six=42), 3, 0, 1 << 14)
    bell = net.shift(net.node("iGELU", up, b=-40, one=1743), 5, 0, 1 << 12)
    gated = net.shift(net.node("Mul", swish, bell), 9, 0, 1 << 10)
    down = net.shift(net.node("MatMul", gated, net.weights(48, 32)), 20, 0, 1 << 12)
    means = net.node("IntegerMean", down, axes=[1], keepdims=0)
    return net.model(net.node("ITAMax", means, n_levels=scalar(256)), down)


def training_step() -> tuple[Any, list[str]]:
    """A dense layer, its loss, and a step of SGD; which outputs go on as which weights."""
    net = Net(3)
    x, labels = net.input("x", (3, 4)), net.input("labels", (3,), TensorProto.INT64)
    weight = net.constant(net.rng.standard_normal((5, 4)))
    hidden = net.node("Gelu", net.node("Gemm", x, weight, transB=1, shape=(3, 5)), shape=(3, 5), domain="com.microsoft")
    loss = net.node("SoftmaxCrossEntropyLoss", hidden, labels, outputs=2)
    net.shapes.append(onnx.helper.make_tensor_value_info(f"{loss}_1", TensorProto.FLOAT, [3, 5]))
    given = net.constant(1.0), f"{loss}_1", labels
    gradient = net.node("SoftmaxCrossEntropyLossGrad", *given, domain="com.microsoft", shape=(3, 5))
    inner = net.node("GeluGrad", gradient, net.nodes[0].output[0], domain="com.microsoft", shape=(3, 5))
    of_weight = net.node("Gemm", inner, x, transA=1, shape=(5, 4))
    updated = net.node("SGD", weight, of_weight, lr=0.5)
    return net.model(loss, updated, domains=["com.microsoft"]), [f"{updated}:{weight}"]


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[Any], Path]:
    def save(model: Any) -> Path:
        onnx.save(model, tmp_path / "network.onnx")
        return tmp_path / "network.onnx"

    return save


@pytest.mark.slow
@pytest.mark.parametrize(("runner", "target", "needed"), RUNNERS, ids=[one[0] for one in RUNNERS])
@pytest.mark.parametrize("network", [residual_network, transformer_block], ids=["residual", "transformer"])
def test_every_step_is_exact(
    network: Callable[[], Any],
    runner: str,
    target: str,
    needed: tuple[str, ...],
    tool: Callable[[str], str],
    saved: Callable[[Any], Path],
) -> None:
    for one in needed:
        tool(one)
    validation = tilewright.compile(saved(network()), target, io_type=["x=int8"]).validate(on=runner, sets=3)
    assert validation.passed


@pytest.mark.slow
@pytest.mark.parametrize(("runner", "target", "needed"), RUNNERS, ids=[one[0] for one in RUNNERS])
def test_weights_learn_as_state(
    runner: str, target: str, needed: tuple[str, ...], tool: Callable[[str], str], saved: Callable[[Any], Path]
) -> None:
    for one in needed:
        tool(one)
    model, states = training_step()
    compiled = tilewright.compile(saved(model), target, state=states)
    assert list(compiled.deployment.outputs) == [model.graph.output[0].name]
    assert compiled.validate(on=runner, sets=4).passed


def test_siracusa_computes_products_with_its_own_kernels(saved: Callable[[Any], Path]) -> None:
    compiled = tilewright.compile(saved(residual_network()), "siracusa", io_type=["x=int8"])
    kernels = {binding.kernel.name for binding in compiled.deployment.bound.bindings.values()}
    assert {"siracusa.qconv", "siracusa.qconv_depthwise", "siracusa.qgemm_row", "integer.pair_sum"} <= kernels
    assert not {"portable.qconv", "portable.qgemm"} & kernels


def test_a_saved_state_begins_with_the_weights(saved: Callable[[Any], Path], tmp_path: Path) -> None:
    from tilewright.config.options import Options

    model, states = training_step()
    file, options = saved(model), Options(states=tuple(states), name="step")
    deployment = Deployment(file, "generic", options)
    for stage in ("rewritten", "allocated"):
        deployment.export_state(tmp_path / stage, stage)
        again = Deployment(file, "generic", options).import_state(tmp_path / stage)
        np.testing.assert_array_equal(again.states[0].initial, deployment.states[0].initial)
        assert again.artifact.files == deployment.artifact.files, stage


def test_without_the_package_the_core_names_what_it_does_not_know(
    saved: Callable[[Any], Path], monkeypatch: Any
) -> None:
    monkeypatch.setenv("TILEWRIGHT_BLOCK", "tilewright-integer-dialect")
    words = [sys.executable, "-m", "tilewright", "check", str(saved(residual_network())), "--target", "generic"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 4 and "RequantShift" in done.stdout + done.stderr
    monkeypatch.delenv("TILEWRIGHT_BLOCK")
    with pytest.raises(TilewrightError, match="cannot be of the type"):
        tilewright.compile(saved(residual_network()), "generic", io_type=["x=int8", f"{_output()}=uint8"])


def _output() -> str:
    return str(residual_network().graph.output[0].name)
