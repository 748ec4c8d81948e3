"""Which programs are needed to run on QEMU, how they are found, and what is said where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright_riscv.runners import qemu_tools
from tilewright_riscv.runners.qemu_tools import GCC, QEMU, demand_builder, find_builder, gcc, missing_tools, zig


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH, and no wheel with a compiler."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(qemu_tools, "find_spec", lambda name: None)
    return tmp_path


def program(folder: Path, name: str, answer: str = "") -> None:
    (folder / name).write_text(f"#!/bin/sh\necho '{answer}'\n", encoding="ascii")
    (folder / name).chmod(0o755)


def test_what_is_missing(there: Path) -> None:
    assert "apt install qemu-system-misc" in str(missing_tools())
    program(there, QEMU)
    assert "pip install ziglang" in str(missing_tools())
    with pytest.raises(TilewrightError, match="runner 'r' cannot run here") as caught:
        demand_builder("r", double=False)
    assert (caught.value.code, caught.value.exit_code) == ("TW7001", Exit.TOOLCHAIN)
    assert caught.value.details == (missing_tools(),)


def test_a_compiler_without_its_library_is_none(there: Path) -> None:
    """gcc prints the bare name of a file that it does not have."""
    program(there, QEMU)
    program(there, GCC, "picolibc.specs")
    assert find_builder() is None
    program(there, GCC, "/usr/lib/picolibc.specs")
    assert find_builder(double=True) == gcc(double=True)
    assert missing_tools() is None and demand_builder("r", double=False) == gcc()


def test_otherwise_the_wheel(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu_tools, "find_spec", lambda name: object() if name == "ziglang" else None)
    assert find_builder() == zig()
    program(there, GCC, "/usr/lib/picolibc.specs")
    assert find_builder() == gcc()


@pytest.mark.parametrize("double", [False, True])
def test_both_build_for_the_same_machine(double: bool) -> None:
    """Floats in registers, of one width or two, and compressed instructions."""
    letter = "d" if double else ""
    one, other = gcc(double=double), zig(double=double)
    assert f"-march=rv32imaf{letter}c" in one.command
    assert f"-mcpu=generic_rv32+m+a+f{'+d' if double else ''}+c+zicsr" in other.command
    assert (
        f"-mabi=ilp32{'d' if double else 'f'}" in one.command
        and f"-mabi=ilp32{'d' if double else 'f'}" in other.command
    )
    assert (one.freestanding, other.freestanding) == (False, True)
