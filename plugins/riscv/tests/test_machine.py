"""Bare machines: found by the name of their target, or by its family's."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tilewright.api.platform import Memory, Platform
from tilewright_riscv import machine
from tilewright_riscv.machine import GROUP, BareMachine, machine_of

ACME = BareMachine(
    target="acme", package="tilewright_riscv", sources=(), headers=("metal.h",), gcc_isa="-march=rv32imc",
    zig_isa="-mcpu=generic_rv32+m+c", abi="ilp32", instructions="TW_ACME", macros=lambda platform: (),
    linker_script=lambda platform: "", clock="made up",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One machine, this module's."""

    @dataclass(frozen=True)
    class Found:
        name: str

        def load(self) -> BareMachine:
            return ACME

    def entry_points(*, group: str) -> tuple[Found, ...]:
        assert group == GROUP
        return (Found("acme"),)

    monkeypatch.setattr(machine, "entry_points", entry_points)


def platform(name: str, family: str = "") -> Platform:
    return Platform(name=name, family=family, memories=(Memory(name="ram", size_bytes=None),))


@pytest.mark.parametrize(("name", "family"), [("acme", ""), ("acme-small", "acme")])
def test_the_machine_of_a_target(name: str, family: str) -> None:
    assert machine_of(platform(name, family)) is ACME


def test_a_target_without_a_machine() -> None:
    assert machine_of(platform("other")) is None


def test_its_files() -> None:
    assert ACME.script == "acme.ld"
    assert b"tw_cluster_run" in ACME.runtime()["metal.h"]
