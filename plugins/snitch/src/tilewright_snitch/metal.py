"""Knows Snitch as a bare machine: its part of the runtime, its linker script, what compilers are told of its cores.
Does not know what programs compute.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from tilewright.api.platform import Platform
from tilewright_riscv.machine import BareMachine
from tilewright_snitch.machine import L3_BASE, L3_BYTES, TCDM_BASE
from tilewright_snitch.platform import STACKS


def linker_script(platform: Platform) -> str:
    """Memories as `platform` limits them."""
    tcdm_bytes = platform.memory("tcdm").size_bytes or 0
    numbers = {
        "tcdm_base": TCDM_BASE,
        "tcdm_bytes": tcdm_bytes,
        "l3_base": L3_BASE,
        "l3_bytes": L3_BYTES,
        "pool_bytes": tcdm_bytes - platform.runtime_bytes["tcdm"],
    }
    texts = {name: f"{number:#x}" for name, number in numbers.items()}
    near, far = STACKS.inner_section(platform, TCDM_BASE), STACKS.outer_section(platform)
    return Template(_script()).substitute({**texts, "near_stacks": near, "far_stacks": far})


@cache
def _script() -> str:
    return (files("tilewright_snitch") / "text" / "snitch.ld").read_text(encoding="utf-8")


MACHINE = BareMachine(
    target="snitch",
    package="tilewright_snitch",
    sources=("start.S", "team.c", "copy.c"),
    headers=("machine.h",),
    gcc_isa="-march=rv32imafd",
    zig_isa="-mcpu=generic_rv32+m+a+f+d+zicsr",
    abi="ilp32d",
    instructions="TW_SNITCH",
    macros=STACKS.macros,
    linker_script=linker_script,
    clock="mcycle of core 0 on GVSoC's model of Snitch",
)
