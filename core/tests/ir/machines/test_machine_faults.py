"""A target that nothing can be planned on is found when it is loaded, and the sentence says which value is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.ir.machines.machine_faults import machine_fault
from tilewright.ir.machines.platform import CopyPath, Engine, Memory, MemoryHierarchy, Option, Platform
from tilewright.testing.cluster import CLUSTER

RAM, ROM = Memory(name="ram", size_bytes=None), Memory(name="rom", size_bytes=1024, kind="const")
PLAIN = Platform(name="plain", memories=(RAM, ROM))


def with_ram(**changes: Any) -> dict[str, Any]:
    return {"memories": (replace(RAM, **changes), ROM)}


def test_what_is_sound_has_no_fault() -> None:
    assert [machine_fault(one) for one in (PLAIN, CLUSTER, replace(PLAIN, memories=(RAM,)))] == ["", "", ""]
    assert machine_fault(MemoryHierarchy(name="board", summary="", platform="plain", memories=(RAM, ROM))) == ""


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (with_ram(kind="sram"), "memory 'ram' of kind 'sram': there are ram and const"),
        (with_ram(size_bytes="24K"), "memory 'ram' with size_bytes='24K': a number of bytes, or None, is needed"),
        (with_ram(size_bytes=-1), "size_bytes=-1"),
        (with_ram(size_bytes=24.0 * 1024), "size_bytes=24576.0"),
        (with_ram(align=24), "align=24: a power of two"),
        (with_ram(name="fast ram"), "a memory named 'fast ram', which is no name in C"),
        (with_ram(name="rom"), "two memories named 'rom'"),
        (with_ram(kind="const"), "no memory that can be written: one needs kind='ram'"),
        ({"memories": [RAM, ROM]}, "memories that are no tuple of Memory"),
        ({"engines": ()}, "no engine"),
        ({"engines": (Engine(name="cpu"),) * 2}, "two engines named 'cpu'"),
        ({"inner": "l1"}, "inner='l1', and no memory 'l1'"),
        ({"runtime_bytes": {"stack": 8}}, "runtime_bytes of other memories, and no memory 'stack'"),
        ({"copies": (CopyPath(source="rom", target="l1"),)}, "copies from 'rom' to 'l1', and no memory 'l1'"),
        ({"copies": (CopyPath(source="rom", target="ram", align=12),)}, "with align=12: a power of two is needed"),
        ({"copies": (CopyPath(source="rom", target="ram", align=32),)}, "memory 'ram' begins at multiples of 16"),
        ({"copies": (CopyPath(source="rom", target="ram", dimensions=4),)}, "dimensions=4: there are 1, 2 and 3"),
        ({"copies": (CopyPath(source="rom", target="ram", queues=0),)}, "queues=0: a number of transfers, 1 or more"),
        ({"copies": (CopyPath(source="rom", target="ram", queues=1.5),)}, "with queues=1.5: a number of transfers"),
        ({"copies": (CopyPath(source="rom", target="ram", channels=3, queues=4),)}, "queues=4: at most 3 are in"),
        ({"copies": (CopyPath(source="rom", target="ram", channels=99, queues=17),)}, "at most 16 are in flight"),
        ({"options": (Option(name="a", help="", default="c", choices=("b",)),)}, "default 'c', which is not among"),
    ],
)  # fmt: skip
def test_the_wrong_value_is_named(changes: dict[str, Any], fault: str) -> None:
    assert fault in machine_fault(replace(PLAIN, **changes))
