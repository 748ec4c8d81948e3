"""A network whose inputs are all bound takes nothing: every runner builds and runs it all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tilewright

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits_f32.onnx"
QEMU_RISCV = ("riscv64-unknown-elf-gcc", "qemu-system-riscv32")
RUNNERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (  # runner, target, what it needs
    ("host", "generic", ("cc",)),
    ("qemu-cortex-m", "cortex-m4", ("arm-none-eabi-gcc", "qemu-system-arm")),
    ("twin", "siracusa", ("cc",)),
    ("qemu-riscv32", "siracusa", QEMU_RISCV),
)


@pytest.mark.slow
@pytest.mark.parametrize(("runner", "target", "needed"), RUNNERS, ids=[one[0] for one in RUNNERS])
def test_nothing_is_read_and_every_step_is_right(
    runner: str, target: str, needed: tuple[str, ...], tool: Callable[[str], str]
) -> None:
    for one in needed:
        tool(one)
    compiled = tilewright.compile(DIGITS, target, bind={"image": 1})
    assert not compiled.deployment.inputs
    assert compiled.validate(on=runner, sets=1).passed
