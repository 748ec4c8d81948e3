"""Bare machines: found by the name of their target, or by its family's."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tilewright.api.platform import Memory, Platform
from tilewright.api.testing import CLUSTER
from tilewright_riscv import machine
from tilewright_riscv.machine import GROUP, BareMachine, machine_of
from tilewright_riscv.stacks import Stacks

ACME = BareMachine(
    target="acme", package="tilewright_riscv", sources=(), headers=("metal.h",), gcc_isa="-march=rv32imc",
    zig_isa="-mcpu=generic_rv32+m+c", abi="ilp32", instructions="TW_ACME",
    stacks=Stacks(
        outer="l2", each_bytes=1024, small_bytes=0, call_cycles=0.0, outer_call_cycles=0.0, outer_slowdown=1.0
    ),
    scratchpad="l1", addresses={"l1_base": 0x1000, "l2_base": 0x8000}, clock="made up",
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


def test_its_linker_script_has_memories_as_the_platform_limits_them(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "$l1_base $l1_bytes $pool_bytes $l2_base [$near_stacks] [$far_stacks]"
    monkeypatch.setattr(machine, "_script", lambda package, name: text if name == "acme.ld" else package)
    settings = {"stack": "auto", "stacks": "l1"}
    near = replace(CLUSTER, settings=settings, settle=ACME.stacks.settled).resized({"l1": 0x8000})
    taken = near.engines[0].cores * 1024
    found = ACME.linker_script(near)
    assert found.startswith(f"0x1000 0x8000 {0x8000 - taken:#x} 0x8000 [.stacks {0x9000 - taken:#x}")
    assert found.endswith("> L1 :NONE] []")
    far = replace(CLUSTER, settings={**settings, "stacks": "l2"}, settle=ACME.stacks.settled).resized({"l1": 0x4000})
    assert ACME.linker_script(far).startswith("0x1000 0x4000 0x4000 0x8000 [] [.stacks (NOLOAD)")
