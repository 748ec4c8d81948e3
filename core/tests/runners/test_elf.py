"""Symbols and code bytes of a small object, as its own assembler placed them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.runners.elf import elf_code_bytes, elf_function_at, elf_symbols

SOURCE = """
    .text
    .type first, %function
first:
    .zero 12
    .size first, 12
    .type second, %function
second:
    .zero 8
    .size second, 8
    .data
    .type value, %object
value:
    .word 7
    .size value, 4
"""
ASSEMBLERS = {"riscv64-unknown-elf-gcc": ("-march=rv32i", "-mabi=ilp32"), "arm-none-eabi-gcc": ("-mcpu=cortex-m4",)}


@pytest.mark.parametrize("compiler", ASSEMBLERS)
def test_functions_and_their_bytes(compiler: str, tool: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "some.s").write_text(SOURCE, encoding="ascii")
    command = [tool(compiler), *ASSEMBLERS[compiler], "-c", "some.s", "-o", "some.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    content = (tmp_path / "some.o").read_bytes()
    found = elf_symbols(content)
    sizes = {symbol.name: (symbol.size_bytes, symbol.is_function) for symbol in found if symbol.size_bytes}
    assert sizes == {"first": (12, True), "second": (8, True), "value": (4, False)}
    assert elf_code_bytes(content) == 20
    assert [elf_function_at(found, address) for address in (0, 11, 12, 19, 20)] == [
        *("first", "first", "second", "second"),
        "",
    ]
