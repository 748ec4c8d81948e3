"""QEMU's boards: code and data where they do not collide, in the words of the linker script."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise

import pytest

from tilewright_cortexm.qemu.machines import KIB, MACHINES, QemuMachine


@pytest.mark.parametrize("name", MACHINES)
def test_parts_do_not_overlap(name: str) -> None:
    machine = MACHINES[name]
    parts = sorted((
        (machine.vectors, machine.vectors + KIB), (machine.code, machine.code + machine.code_bytes),
        (machine.data, machine.data + machine.data_bytes),
    ))  # fmt: skip
    assert all(end <= start for (_, end), (start, _) in pairwise(parts))
    assert parts[-1][1] < 2**32 and not any(start % KIB for start, _ in parts)


def test_the_linker_script_gets_what_it_asks_for() -> None:
    machine = QemuMachine(board="b", vectors=0, code=0x400, code_bytes=0x800, data=0x20000000, data_bytes=0x1000)
    given = dict(flag.removeprefix("-Wl,--defsym=").split("=") for flag in machine.link_flags)
    assert {name: int(value, 16) for name, value in given.items()} == {
        "VECTORS": 0, "CODE": 0x400, "CODE_SIZE": 0x800, "DATA": 0x20000000, "DATA_SIZE": 0x1000
    }  # fmt: skip
    script = (files("tilewright_cortexm.qemu") / "sections.ld").read_text(encoding="ascii")
    assert set(given) <= set(re.findall(r"\w+", script))
