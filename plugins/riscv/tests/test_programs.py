"""Programs for bare machines: what of the generated files is compiled, and the parts of the runtime that all have."""

from __future__ import annotations

from dataclasses import replace

from tilewright.api.testing import CLUSTER
from tilewright.ir.plans.stages import Artifact
from tilewright_riscv.machine import BareMachine
from tilewright_riscv.programs import network_sources, outer_memories, runtime_files, runtime_sources, text
from tilewright_riscv.stacks import Stacks

ACME = BareMachine(
    target="acme", package="tilewright_riscv", sources=(), headers=(), gcc_isa="-march=rv32imc",
    zig_isa="-mcpu=generic_rv32+m+c", abi="ilp32", instructions="TW_ACME",
    stacks=Stacks(
        outer="l2", each_bytes=1024, small_bytes=0, call_cycles=0.0, outer_call_cycles=0.0, outer_slowdown=1.0
    ),
    scratchpad="l1", addresses={"l1_base": 0x1000, "l2_base": 0x8000}, clock="made up",
)  # fmt: skip


def test_what_is_compiled() -> None:
    names = ("net.c", "net.h", "net_simple.c", "net_selftest.c", "net_weights.S", "net_weights.bin")
    assert network_sources(Artifact(files=dict.fromkeys(names, b"")), "net") == ["net.c", "net_weights.S"]


def test_the_shared_runtime() -> None:
    assert {"host.c", "stacks.c", "memory.c"} == set(runtime_sources(ACME))
    assert {"metal.h", "team.h", *runtime_sources(ACME)} < set(runtime_files(ACME))


def test_memories_that_no_core_reads() -> None:
    engine = CLUSTER.engines[0].name
    hidden = replace(CLUSTER.memory("l2"), access={engine: "none"})
    others = tuple(memory for memory in CLUSTER.memories if memory.name != "l2")
    assert outer_memories(CLUSTER) == []
    assert outer_memories(replace(CLUSTER, memories=(hidden, *others))) == ["l2"]


def test_texts_name_no_machine() -> None:
    for name in ("main.mako", "first.mako", "selftest.c", "metal.mk"):
        assert "siracusa" not in text(name).lower()
