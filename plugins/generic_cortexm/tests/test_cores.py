"""The cores: what each tells the compiler, and that numbers stand for every engine."""

from __future__ import annotations

import pytest

from tilewright_cortexm.cores import CORES, core_named
from tilewright_cortexm.qemu.machines import MACHINES


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.name)
def test_every_engine_has_its_speed(core: object) -> None:
    assert len(core.macs_per_cycle) == len(core.engines)  # type: ignore[attr-defined]
    assert list(core.macs_per_cycle) == sorted(core.macs_per_cycle)  # type: ignore[attr-defined]
    assert core_named(core.name) is core  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "flags"), [
    ("m0plus", "-mthumb -mcpu=cortex-m0plus -mfloat-abi=soft -fno-unroll-loops"),
    ("m3", "-mthumb -mcpu=cortex-m3 -mfloat-abi=soft -munaligned-access -fno-unroll-loops"),
    ("m4", "-mthumb -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -munaligned-access"),
    ("m55", "-mthumb -mcpu=cortex-m55 -mfloat-abi=hard -munaligned-access -fno-tree-slp-vectorize"),
])  # fmt: skip
def test_what_the_compiler_is_told(name: str, flags: str) -> None:
    assert " ".join(core_named(name).flags) == flags


def test_a_core_of_nobody() -> None:
    with pytest.raises(KeyError, match="m9"):
        core_named("m9")


def test_every_core_has_a_board() -> None:
    assert set(MACHINES) == {core.name for core in CORES}
