"""Copies of constants: their names, and which memories they can be made to."""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.machines.platform import CopyPath, Engine, Memory, Platform
from tilewright.ir.plans.constant_copies import copies_of, copy_name, copying, initial_name, path_to, read_as, refusal
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.testing.cluster import CLUSTER

RAM, ROM = Memory(name="ram", size_bytes=None), Memory(name="rom", size_bytes=None, kind="const")
PLAIN = Platform(name="plain", memories=(RAM, ROM))


def test_a_copy_made_once_has_one_name_and_one_made_for_each_use_one_for_each_step() -> None:
    once, use = Staging(memory="ram", when="init"), Staging(memory="ram", when="use")
    assert copy_name("w", once, "a") == copy_name("w", once, "b") == "w@ram"
    assert copy_name("w", use, "a") != copy_name("w", use, "b")
    decisions = Decisions(staged={"w": use})
    assert read_as("w", decisions, "a") == copy_name("w", use, "a")
    assert read_as("v", decisions, "a") == "v"
    assert initial_name("h") == "h.initial"


def test_copies_are_in_the_order_of_the_constants() -> None:
    staging = Staging(memory="ram", when="init")
    decisions = Decisions(staged={"b": staging, "a": staging})
    assert [name for name, _ in copies_of(decisions, {"a": 0, "b": 0, "c": 0})] == ["a", "b"]


def test_the_first_engine_copies_where_it_reads_and_writes() -> None:
    assert copying(PLAIN, "ram") == "memcpy"
    assert refusal(PLAIN, RAM, "init") == ""
    blind = replace(ROM, access={PLAIN.engines[0].name: "none"})
    assert copying(replace(PLAIN, memories=(RAM, blind)), "ram") is None
    assert "can bring" in refusal(replace(PLAIN, memories=(RAM, blind)), RAM, "init")


def test_a_path_serves_one_core_by_what_it_says_and_several_by_the_runtime() -> None:
    path = CopyPath(source="rom", target="ram", start="go(${dst});", wait="", max_bytes=None, dimensions=1)
    blind = replace(ROM, access={PLAIN.engines[0].name: "none"})
    one = replace(PLAIN, memories=(RAM, blind), copies=(path,))
    assert copying(one, "ram") == "path"
    assert path_to(one, "rom", "ram") == path
    assert path_to(one, "ram", "rom") is None
    several = path_to(replace(one, engines=(Engine(name=PLAIN.engines[0].name, cores=2),)), "rom", "ram")
    assert several is not None and "tw_rt_copy" in several.start


def test_refusals_name_their_reason() -> None:
    assert "holds constants" in refusal(PLAIN, ROM, "init")
    assert "application" in refusal(PLAIN, replace(RAM, managed_by="application"), "init")
    assert "when=init" in refusal(CLUSTER, CLUSTER.memory("l2"), "use")
    assert "scratchpad" in refusal(CLUSTER, CLUSTER.memory("l1"), "init")
