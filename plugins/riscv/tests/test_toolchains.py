"""Compilers for clusters: which is taken, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright_riscv import toolchains
from tilewright_riscv.machine import BareMachine
from tilewright_riscv.stacks import Stacks
from tilewright_riscv.toolchains import CHOICE, demand_toolchain, missing_toolchain

ACME = BareMachine(
    target="acme", package="tilewright_riscv", sources=(), headers=(), gcc_isa="-march=rv32imc",
    zig_isa="-mcpu=generic_rv32+m+c", abi="ilp32", instructions="TW_ACME",
    stacks=Stacks(
        outer="l2", each_bytes=1024, small_bytes=0, call_cycles=0.0, outer_call_cycles=0.0, outer_slowdown=1.0
    ),
    scratchpad="l1", addresses={"l1_base": 0x1000, "l2_base": 0x8000}, clock="made up", gcc_flags=("-fno-acme",),
)  # fmt: skip


def program(folder: Path, name: str) -> Path:
    (folder / name).write_text("#!/bin/sh\n", encoding="ascii")
    (folder / name).chmod(0o755)
    return folder / name


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(CHOICE, raising=False)


@pytest.mark.parametrize(("chosen", "name"), [("", "gcc"), ("gcc", "gcc"), ("zig", "zig"), ("acme-clang", "clang")])
def test_the_one_that_is_wanted(chosen: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path, toolchains.GCC)
    program(tmp_path, "acme-clang")
    monkeypatch.setattr(toolchains, "find_spec", lambda module: module)
    monkeypatch.setenv(CHOICE, chosen)
    assert missing_toolchain() is None
    found = demand_toolchain(ACME)
    assert found.name == name
    assert found.machine[0] == (ACME.zig_isa if name == "zig" else ACME.gcc_isa)
    assert ("-fno-acme" in found.machine) is (name == "gcc")
    assert found.command[0] == (chosen if name == "clang" else found.command[0])


@pytest.mark.parametrize("chosen", ["", "gcc", "zig", "no-such-clang"])
def test_none_is_said(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchains, "find_spec", lambda module: None)
    monkeypatch.setenv(CHOICE, chosen)
    said = missing_toolchain()
    assert said is not None
    assert "gcc-riscv64-unknown-elf" in said
    assert (repr(chosen) in said) is bool(chosen)
    with pytest.raises(TilewrightError) as refused:
        demand_toolchain(ACME)
    assert refused.value.code == "TW7001"
