"""Knows Siracusa as a bare machine: its part of the runtime, its linker script, what compilers are told of its cores.
Does not know what programs compute.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from tilewright.api.platform import Platform
from tilewright_riscv.machine import BareMachine
from tilewright_siracusa.machine import L1_BASE, L2_BASE, L2_BYTES, L3_BASE, L3_BYTES
from tilewright_siracusa.platform import STACKS

CONTROLLER_STACK_BYTES = 4096  # in L2, of the core outside the cluster


def linker_script(platform: Platform) -> str:
    """Memories as `platform` limits them."""
    l1_bytes = platform.memory("l1").size_bytes or 0
    numbers = {
        "l1_base": L1_BASE,
        "l1_bytes": l1_bytes,
        "l2_base": L2_BASE,
        "l2_bytes": L2_BYTES,
        "l3_base": L3_BASE,
        "l3_bytes": L3_BYTES,
        "pool_bytes": l1_bytes - platform.runtime_bytes["l1"],
        "controller_bytes": CONTROLLER_STACK_BYTES,
    }
    texts = {name: f"{number:#x}" for name, number in numbers.items()}
    near, far = STACKS.inner_section(platform, L1_BASE), STACKS.outer_section(platform)
    return Template(_script()).substitute({**texts, "near_stacks": near, "far_stacks": far})


@cache
def _script() -> str:
    return (files("tilewright_siracusa") / "text" / "siracusa.ld").read_text(encoding="utf-8")


MACHINE = BareMachine(
    target="siracusa",
    package="tilewright_siracusa",
    sources=("start.S", "boot.c", "team.c", "copy.c", "external.c"),
    headers=("machine.h", "external.h"),
    gcc_isa="-march=rv32imfc",
    zig_isa="-mcpu=generic_rv32+m+f+c+zicsr",
    abi="ilp32f",
    instructions="TW_XPULP",
    macros=STACKS.macros,
    linker_script=linker_script,
    clock="the cluster's timer on GVSoC's model of Siracusa",
)
