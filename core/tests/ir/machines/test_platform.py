"""Platforms: limits, what the runtime takes of them, settings, and other memories for the same target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tilewright.errors import TilewrightError, usage_error
from tilewright.ir.machines.platform import Engine, Memory, MemoryHierarchy, Option, Platform, caller_memory, reachable
from tilewright.testing.cluster import CLUSTER, RUNTIME_BYTES, SCRATCHPAD_BYTES

RAM, ROM = Memory(name="ram", size_bytes=64), Memory(name="rom", size_bytes=None, kind="const")
PLAIN = Platform(name="plain", memories=(RAM, ROM), runtime_bytes={"ram": 24})


def test_a_plan_has_what_the_runtime_leaves() -> None:
    assert CLUSTER.plan_bytes("l1") == SCRATCHPAD_BYTES - RUNTIME_BYTES
    assert (PLAIN.plan_bytes("ram"), PLAIN.plan_bytes("rom")) == (40, None)
    soft = replace(PLAIN, memories=(replace(RAM, soft=True), ROM))
    assert (PLAIN.hard_bytes("ram"), soft.hard_bytes("ram")) == (40, None)
    assert PLAIN.size_for("ram", 100) == 124
    assert PLAIN.with_limits({"ram": PLAIN.size_for("ram", 100)}).plan_bytes("ram") == 100


def test_a_runtime_that_takes_more_of_a_larger_memory_is_counted() -> None:
    def settle(platform: Platform) -> Platform:
        return replace(platform, runtime_bytes={"ram": (platform.memory("ram").size_bytes or 0) // 4})

    growing = replace(PLAIN, settle=settle)
    size = growing.size_for("ram", 300)
    assert growing.resized({"ram": size}).plan_bytes("ram") == 300
    assert (growing.resized({"ram": size - 1}).plan_bytes("ram") or 0) < 300


def test_access_is_as_said_or_as_the_kind_has_it() -> None:
    told = replace(RAM, access={"npu": "none", "dma": "ro"})
    assert [told.access_by(name) for name in ("npu", "dma", "cpu")] == ["none", "ro", "rw"]
    assert ROM.access_by("cpu") == "ro"
    assert told.lets("dma", "ro") and not told.lets("dma", "rw") and not told.lets("npu", "ro")
    assert RAM.lets("cpu", "ro")


def test_values_live_at_home() -> None:
    assert CLUSTER.backing_memory().name == "l2"
    assert PLAIN.backing_memory() == RAM
    assert PLAIN.of_kind("const") == (ROM,)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda: PLAIN.with_limits({"moon": 1}), "TW1103"),
        (lambda: PLAIN.configure({"moon": "1"}), "TW1102"),
        (lambda: MemoryHierarchy(name="h", summary="", platform="other", memories=(ROM,)).on(PLAIN), "TW8012"),
    ],
)
def test_what_is_not_there_is_refused(change, code: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        change()
    assert caught.value.code == code


def test_a_memory_that_a_setting_brings_is_refused_with_that_setting() -> None:
    def configured(platform: Platform, settings: Mapping[str, str]) -> Platform:
        if settings["bank"] == "odd":
            raise usage_error("TW1102", "not with the other settings", fix=("take another",))
        extra = (replace(RAM, name="far"),) if settings["bank"] == "on" else ()
        return replace(platform, memories=(RAM, ROM, *extra))

    option = Option(name="bank", help="where", default="off", choices=("off", "odd", "on"))
    target = replace(PLAIN, options=(option,), configure_with=configured)
    with pytest.raises(TilewrightError) as caught:
        target.configure({}).with_limits({"far": 1})
    assert any(fix.startswith("--set bank=on") for fix in caught.value.fix)
    assert target.configure({"bank": "on"}).with_limits({"far": 1}).memory("far").size_bytes == 1


def test_what_a_target_follows_from_is_a_target() -> None:
    lost = replace(PLAIN, configure_with=lambda platform, settings: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(TilewrightError, match=r"target '.*': configure_with must return a Platform, found None"):
        lost.configure({})
    lost = replace(PLAIN, settle=lambda platform: platform.memories)  # type: ignore[arg-type, return-value]
    with pytest.raises(TilewrightError, match=r"target '.*': settle must return a Platform, found tuple"):
        lost.with_limits({})
    lost = replace(PLAIN, settle_kernels=lambda platform, kernels: kernels)  # type: ignore[arg-type, return-value]
    with pytest.raises(TilewrightError, match=r"settle_kernels must return a Platform, found frozenset"):
        lost.running(["one"])


def test_the_runtime_may_take_what_kernels_need() -> None:
    def sized(platform: Platform, kernels: frozenset[str]) -> Platform:
        return replace(platform, runtime_bytes={"ram": len(kernels)})

    assert PLAIN.running(["one"]) is PLAIN
    needy = replace(PLAIN, settle_kernels=sized)
    assert needy.running(["one", "two", "one"]).runtime_bytes == {"ram": 2}


def test_a_hierarchy_replaces_the_memories() -> None:
    board = MemoryHierarchy(name="h", summary="", platform="plain", memories=(replace(RAM, size_bytes=8), ROM))
    assert board.on(PLAIN).memory("ram").size_bytes == 8


def platform(**access: str) -> Platform:
    """Memories `far`, the backing memory, and `near`, with what the first engine may do there."""
    memories = tuple(
        Memory(name=name, size_bytes=None, access={"cpu": access.get(name, "rw")}) for name in ("far", "near")
    )
    return Platform(name="p", memories=memories, engines=(Engine(name="cpu"), Engine(name="npu")), backing="far")


def test_a_memory_is_in_reach_unless_the_first_engine_has_no_access() -> None:
    assert reachable(platform(), "far")
    assert reachable(platform(far="ro"), "far")
    assert not reachable(platform(far="none"), "far")
    assert reachable(platform(), "rodata"), "constants are read by everybody"


def test_callers_keep_their_tensors_in_the_backing_memory_or_the_first_in_reach() -> None:
    assert caller_memory(platform()).name == "far"
    assert caller_memory(platform(far="none")).name == "near"
    assert caller_memory(platform(far="none", near="none")).name == "far"
