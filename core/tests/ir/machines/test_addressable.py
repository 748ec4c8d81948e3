"""Which memories cores can read themselves, and where the caller's tensors are."""

from __future__ import annotations

from tilewright.ir.machines.addressable import caller_memory, reachable
from tilewright.ir.machines.platform import Engine, Memory, Platform


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
