"""Whole networks that nobody has seen: every step equal to its reference; stack, code, scratch and flash in bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.api.testing import KINDS, SideBySide, random_network
from tilewright.config.options import Options
from tilewright.plugins import load_for
from tilewright.rewrite import rewrite
from tilewright_cortexm.qemu.runner import QemuRunner

SEEDS = (400, pytest.param(401, marks=pytest.mark.long))
STACK_BYTES = 1024
CODE_BYTES = 48 * 1024
SCRATCH_BYTES = 4096


@pytest.fixture(autouse=True)
def _tools(tool: Callable[[str], str]) -> None:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(name)


def drawn(kind: str, seed: int) -> SideBySide:
    registry = load_for(target="generic")
    network = random_network(kind, seed, registry.operators)
    lowered = rewrite(network.graph, registry.operators, tuple(registry.graph_passes.values())).graph
    return SideBySide(graph=lowered, feeds=network.feeds)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("core", ["m4", "m55"])
def test_exact_and_in_bounds(kind: str, seed: int, core: str, tmp_path: Path) -> None:
    network = drawn(kind, seed)
    plan, portable = network.deployment(f"cortex-{core}"), network.deployment("generic", Options(tiler="whole"))
    verdicts = network.judge(plan, network.run(plan, QemuRunner(), tmp_path / "traced", trace=True))
    wrong = [verdict for verdict in verdicts if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []
    counts = network.run(plan, QemuRunner(), tmp_path / "counted", trace=False).counts
    assert counts["stack_bytes"] <= STACK_BYTES
    assert counts["code_bytes"] <= CODE_BYTES
    assert plan.worst_case_buffer_size["ram"] <= portable.worst_case_buffer_size["ram"] + SCRATCH_BYTES
    assert plan.worst_case_buffer_size["flash"] <= 1.1 * portable.worst_case_buffer_size["flash"]
