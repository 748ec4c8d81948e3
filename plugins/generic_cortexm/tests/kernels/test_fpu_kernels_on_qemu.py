"""The scalar float unit: odd shapes on emulated cores, by both compilers; and what they are said to take."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.testing import SideBySide, side_by_side, site_of, vocabulary
from tilewright.config.options import Options
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.tile.measure import step_instructions
from tilewright_cortexm.kernels import fpu_depthwise, fpu_products, fpu_recurrent
from tilewright_cortexm.qemu.runner import QemuRunner
from tilewright_cortexm.qemu.tools import OTHER_COMPILER

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
MODULES = (fpu_depthwise, fpu_products, fpu_recurrent)
KERNELS = {kernel.name for module in MODULES for kernel in module.KERNELS}
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5})
COMPILERS = {"gcc": "", "clang": "clang"}


@pytest.fixture(autouse=True)
def _tools(tool: Callable[[str], str]) -> None:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm", "clang"):
        tool(name)


def conv(index: int, channels: int, outputs: int, size: tuple[int, int], **changes: Attribute) -> Case:
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1,
        "ceil_mode": 0, **CLIPS[index % 3], **changes,
    }  # fmt: skip
    kernel, group = attributes["kernel_shape"], attributes["group"]
    assert isinstance(kernel, tuple) and isinstance(group, int)
    rng = np.random.default_rng(index)
    shapes = ((1, channels, *size), (outputs, channels // group, *kernel), (outputs,))
    x, w, bias = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    x.reshape(-1)[::197] = (np.nan, np.inf, -np.inf)[index % 3]
    inputs: list[Array | None] = [x, w, bias]
    return site_of(vocabulary()["Conv"], inputs, attributes, (1, 2)), inputs


def gemm(index: int, *shape: int) -> Case:
    rng, (rows, depth, columns) = np.random.default_rng(index), shape
    shapes = ((rows, depth), (depth, columns), (columns,))
    inputs: list[Array | None] = [rng.standard_normal(each).astype(np.float32) for each in shapes]
    return site_of(vocabulary()["Gemm"], inputs, CLIPS[index % 3], (1, 2)), inputs


def matmul(*shape: int) -> Case:
    rng, (rows, depth, columns) = np.random.default_rng(sum(shape)), shape
    inputs: list[Array | None] = [
        rng.standard_normal(each).astype(np.float32) for each in ((rows, depth), (depth, columns))
    ]
    return site_of(vocabulary()["MatMul"], inputs, {}, (1,)), inputs


def recurrent(op: str, *shape: int, **changes: Attribute) -> Case:
    rng, (steps, batches, hidden) = np.random.default_rng(sum(shape)), shape
    functions, gates = (("Sigmoid", "Tanh", "Tanh"), 4) if op == "LSTMSteps" else (("Sigmoid", "Tanh"), 3)
    inputs: list[Array | None] = [
        rng.standard_normal(each).astype(np.float32) / np.float32(2)
        for each in ((steps, batches, gates * hidden), (gates * hidden, hidden))
    ]
    attributes: dict[str, Attribute] = {
        "activations": functions, "alphas": (0.0,) * len(functions), "betas": (0.0,) * len(functions), "reverse": 0,
        **changes,
    }  # fmt: skip
    return site_of(vocabulary()[op], inputs, attributes, (1,)), inputs


def layers() -> list[Case]:
    """Every rest of four channels; neighbours of both strides; groups, dilations; rows that end inside a block."""
    channels = (8, 5, 6, 7, 4, 3, 2, 9, 12)
    depthwise = [
        conv(index, count, count, (9, 11), group=count, strides=(1, 1 + index % 2))
        for index, count in enumerate(channels)
    ]
    wide = [conv(index, 6, 6, (9, 9), group=6, kernel_shape=(2, 5), dilations=(1 + index, 1)) for index in range(2)]
    apart = [
        conv(0, 8, 12, (9, 11), group=2),
        conv(1, 6, 10, (8, 12), group=2),
        conv(2, 5, 6, (9, 13), dilations=(2, 2), strides=(2, 1)),
        conv(3, 9, 9, (5, 9), group=3, kernel_shape=(1, 3), pads=(0, 2, 0, 1)),
    ]
    joined = [conv(0, 16, 8, (10, 10)), conv(1, 3, 6, (9, 9), strides=(2, 2)), conv(2, 7, 5, (6, 14))]
    products = [gemm(0, 1, 35, 10), gemm(1, 1, 64, 16), gemm(2, 9, 21, 7), matmul(6, 18, 9), matmul(1, 40, 11)]
    steps = [
        recurrent("LSTMSteps", 3, 2, 9),
        recurrent("GRUSteps", 2, 2, 7),
        recurrent("GRUSteps", 2, 1, 20, linear_before_reset=1),
    ]
    return [*depthwise, *wide, *apart, *joined, *products, *steps]


@cache
def everything() -> SideBySide:
    return side_by_side(layers())


@pytest.mark.slow
@pytest.mark.parametrize(("core", "compiler"), [("m4", "gcc"), ("m4", "clang"), ("m7", "gcc"), ("m33", "clang")])
def test_odd_shapes(core: str, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OTHER_COMPILER, COMPILERS[compiler])
    many = everything()
    plan = many.deployment(f"cortex-{core}", Options())
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    wrong = [verdict for verdict in many.judge(plan, result) if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []
    assert {binding.kernel.name for binding in plan.bound.bindings.values()} >= KERNELS


@pytest.mark.parametrize("core", ["m4", "m7"])
def test_estimates_are_near_what_is_executed(core: str, tmp_path: Path) -> None:
    """Shapes as networks have them are nearer; these are small, and blocks of theirs are seldom whole."""
    many = everything()
    plan = many.deployment(f"cortex-{core}", Options())
    executed = many.run(plan, QemuRunner(), tmp_path, trace=False).step_counts
    said = step_instructions(plan.allocated.tiled, plan.registry.operators, plan.allocated.decisions)
    kernels = {node.name: plan.bound.bindings[node.name].kernel.name for node in many.graph.nodes}
    ratios = {
        (name, kernel): round(said[name] / executed[name]["instructions"], 3)
        for name, kernel in kernels.items()
        if kernel in KERNELS
    }
    assert {step: ratio for step, ratio in ratios.items() if not 0.75 < ratio < 1.25} == {}
