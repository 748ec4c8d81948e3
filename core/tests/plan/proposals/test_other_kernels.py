"""What it costs that steps run with other kernels than the fastest, and how that is told."""

from __future__ import annotations

from dataclasses import replace

from tilewright.bind import bind
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.other_kernels import exchanged, extra_cycles, slower_kernels
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch

CLIP = portable_kernels()["portable.clip"]
KERNELS = {
    name: replace(CLIP, name=name, cycles=lambda tile, cycles=cycles: cycles)
    for name, cycles in (("fast", 100.0), ("small", 350.0), ("tiny", 1100.0))
}


def bound(**kernels: str) -> Bound:
    """Two clips, `a` and `b`."""
    sketch = Sketch(operators=vocabulary())
    a = sketch.node("Clip", (sketch.input("x", DType.F32, (4, 6)),), {"min": 0.0}, "a")
    graph = sketch.finish(sketch.node("Clip", (a,), {"max": 4.0}, "b"))
    platform = Platform(name="p", memories=(Memory(name="ram", size_bytes=None),))
    return bind(graph, platform, vocabulary(), KERNELS, Decisions(kernels=kernels))


def test_extra_cycles_are_those_over_the_fastest_of_each_node() -> None:
    assert extra_cycles(bound(), {"a": "small", "b": "tiny"}) == 250 + 1000
    assert extra_cycles(bound(), {"a": "fast"}) == extra_cycles(bound(), {}) == 0
    assert extra_cycles(bound(), {"gone": "small"}) == 0


def test_nodes_whose_kernel_is_another_one() -> None:
    assert exchanged(bound(b="small"), bound()) == {"b": "small"}
    assert exchanged(bound(), bound()) == {}


def test_the_note_names_memories_steps_and_what_they_cost() -> None:
    (note,) = slower_kernels(bound(a="small", b="tiny"), bound(), ("ram", "tcm"))
    assert (note.code, note.severity) == ("TW5035", "note")
    assert note.message == (
        "memory is short (ram, tcm): 2 steps have slower kernels; the network takes about 625.0 % longer on one core "
        "(estimate)"
    )
    assert note.details == (
        "'a': small instead of fast, 250 cycles more",
        "'b': tiny instead of fast, 1,000 cycles more",
    )
    (one,) = slower_kernels(bound(a="small"), bound(), ("ram",))
    assert "1 step has a slower kernel; the network takes about 125.0 % longer" in one.message


def test_nothing_is_said_where_nothing_changed() -> None:
    assert list(slower_kernels(bound(), bound(), ("ram",))) == []
