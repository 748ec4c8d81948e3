"""The `bind` stage: the cheapest kernel that is not ruled out, and every reason where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Engine, Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import channels_last
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch

PLATFORM = Platform(
    name="p",
    memories=(Memory(name="ram", size_bytes=None),),
    engines=(Engine(name="cpu"), Engine(name="npu")),
)
CLIP = portable_kernels()["portable.clip"]
FAST = replace(CLIP, name="fast", target="p", cycles=lambda tile: 1.0)
PICKY = replace(CLIP, name="picky", target="p", match=lambda site: "not on Mondays")


def graph() -> Graph:
    """Two clips with the same limits, and one with others."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (1, 2, 3, 4))
    for name, least in (("one", 0.0), ("two", 0.0), ("three", 1.0)):
        value = sketch.node("Clip", (value,), {"min": least}, name)
    return sketch.finish(value)


def bound(*kernels: Kernel, platform: Platform = PLATFORM, **decided: dict[str, str]) -> Bound:
    offered = {kernel.name: kernel for kernel in kernels}
    return bind(graph(), platform, vocabulary(), offered, Decisions(**decided))


def test_the_cheapest_is_taken_and_the_others_are_known() -> None:
    binding = bound(CLIP, FAST, PICKY).bindings["one"]
    assert (binding.kernel.name, binding.engine) == ("fast", "cpu")
    assert [one.kernel.name for one in binding.candidates] == ["fast", "portable.clip"]
    assert [(one.candidate, one.reason) for one in binding.refusals] == [("picky", "not on Mondays")]


def test_equal_nodes_are_asked_about_once() -> None:
    asked = []
    counting = replace(CLIP, match=lambda site: asked.append(site.node.name))
    found = bound(counting)
    assert asked == ["one", "three"]
    assert found.layers["one"] is found.layers["two"] is not found.layers["three"]


def test_pins_are_obeyed() -> None:
    found = bound(CLIP, FAST, kernels={"two": "portable.clip"}, engines={"three": "npu"})
    assert [found.bindings[name].kernel.name for name in ("one", "two", "three")] == ["fast", "portable.clip", "fast"]
    assert found.bindings["three"].engine == "npu"


@pytest.mark.parametrize(
    ("pinned", "detail"),
    [("picky", "picky: not on Mondays"), ("no-such", "there is no such kernel for this operator on this target")],
)
def test_a_pin_that_cannot_be_says_why_and_what_can(pinned: str, detail: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        bound(CLIP, FAST, PICKY, kernels={"two": pinned})
    error = caught.value
    assert (error.code, error.where, error.details) == ("TW1104", "node 'two'", (detail,))
    assert error.fix == ("pin one of: fast, portable.clip",)


def test_the_cheapest_kernel_of_a_pinned_engine_is_taken() -> None:
    on_npu = replace(FAST, name="on_npu", engine="npu")
    found = bound(CLIP, on_npu, replace(on_npu, name="faster", engine="cpu"), engines={"two": "npu"})
    assert {name: (one.kernel.name, one.engine) for name, one in found.bindings.items() if name != "three"} == {
        "one": ("faster", "cpu"),
        "two": ("on_npu", "npu"),
    }


@pytest.mark.parametrize(
    ("engine", "detail", "possible"),
    [
        ("gpu", "target 'p' has no such engine", "cpu, npu"),
        ("cpu", "its kernel 'on_npu' runs on 'npu' only", "npu"),
    ],
)
def test_a_pinned_engine_must_be_there_and_run_the_kernel(engine: str, detail: str, possible: str) -> None:
    kernels = {"two": "on_npu" if engine == "cpu" else "portable.clip"}
    with pytest.raises(TilewrightError) as caught:
        bound(CLIP, replace(FAST, name="on_npu", engine="npu"), engines={"two": engine}, kernels=kernels)
    error = caught.value
    assert (error.code, error.where, error.details) == ("TW1104", "node 'two'", (detail,))
    assert error.fix == (f"pin one of: {possible}",)


def test_nodes_that_nobody_computes_are_all_named() -> None:
    with pytest.raises(TilewrightError) as caught:
        bound(PICKY)
    error = caught.value
    assert (error.code, error.exit_code) == ("TW2001", Exit.UNSUPPORTED)
    assert error.message == "3 of 3 nodes cannot run on target 'p'"
    assert error.details[:2] == ("node 'one' (Clip, f32[1,2,3,4] -> f32[1,2,3,4])", "   picky: not on Mondays")
    with pytest.raises(TilewrightError) as caught:
        bound()
    assert "   no kernel for Clip is installed" in caught.value.details


def test_relayouts_are_bound_too() -> None:
    strict = replace(CLIP, requires=lambda site: {"X": channels_last(4)})
    sketch = Sketch(operators=vocabulary())
    y = sketch.node("Clip", (sketch.input("x", DType.F32, (1, 2, 3, 4)),), {"min": 0.0}, "one")
    kernels = {one.name: one for one in (strict, portable_kernels()["portable.transpose"])}
    found = bind(sketch.finish(y), PLATFORM, vocabulary(), kernels, Decisions())
    assert [found.bindings[node.name].kernel.op for node in found.graph.nodes] == ["Transpose", "Clip"]


def test_constants_are_bound_by_operand() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (4, 6))
    y = sketch.node("Add", (x, sketch.constant(np.ones((4, 6), np.float32))), name="sum")
    found = bind(sketch.finish(y), PLATFORM, vocabulary(), portable_kernels(), Decisions())
    (name,) = found.constants
    assert found.bindings["sum"].constants == {"B": name}
