"""Commands that run programs of Siracusa on QEMU, kernels in their portable form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilewright.cli.main import tilewright

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"


@pytest.fixture(autouse=True)
def _tools(tool: Callable[[str], str]) -> None:
    for name in ("riscv64-unknown-elf-gcc", "qemu-system-riscv32"):
        tool(name)


@pytest.mark.slow
def test_validate_and_bench_from_the_command_line() -> None:
    model = [str(DIGITS / "digits_int8.onnx"), "-t", "siracusa", "--on", "qemu-riscv32"]
    valid = CliRunner().invoke(tilewright, ["validate", *model], catch_exceptions=False)
    assert "PASS" in valid.stdout
    data = CliRunner().invoke(tilewright, ["bench", *model, "--json", "-"], catch_exceptions=False)
    bench = json.loads(data.stdout)
    assert bench["runner"] == "qemu-riscv32"
    assert sum(bench["instructions_by_class"].values()) == bench["instructions"]
    assert all(step["instructions"] > 0 for step in bench["steps"])
    assert set(bench["stack_bytes_by_class"]) == {*(f"core{number}" for number in range(8)), "dma_core"}
    assert bench["stack_bytes"] == max(bench["stack_bytes_by_class"].values())


def test_a_network_that_prints_runs_where_there_is_no_console() -> None:
    words = (
        "validate",
        str(DIGITS / "digits_int8.onnx"),
        "-t",
        "siracusa",
        "--memory",
        "l1=16K",
        "--on",
        "qemu",
        "--sets",
        "1",
    )
    result = CliRunner().invoke(tilewright, (*words, "--code-pass", "print-tensors"))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("weights", ["l1", "sram"])
def test_the_model_of_the_engine_runs_there_too(weights: str) -> None:
    """And the program compiles where no runtime watches its jobs."""
    words = ("validate", str(DIGITS / "digits_int8.onnx"), "-t", "siracusa", "--on", "qemu", "--sets", "1")
    result = CliRunner().invoke(tilewright, (*words, "--set", "engine=neureka", "--set", f"weight_memory={weights}"))
    assert "PASS" in result.stdout, result.output
