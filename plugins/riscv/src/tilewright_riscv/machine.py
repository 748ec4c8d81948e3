"""Knows what a bare machine says of itself to the parts that all of them share, and how the one of a target is found.
Does not know any machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from string import Template

from tilewright.api.platform import Platform
from tilewright_riscv.stacks import Stacks

GROUP = "tilewright_riscv.v1"  # of entry points: NAME of a target -> its BareMachine


@dataclass(frozen=True, slots=True, kw_only=True)
class BareMachine:
    """A cluster without an operating system.

    Of its runtime, `start.S` leads every core from the entry point to C, and `machine.h` has `tw_cycles` and
    `tw_is_far`; `tw_cluster_run`, tw_rt and the memories are its own too. `runtime/metal` of this package has the rest.
    """

    target: str  # GVSoC's target has the same name
    package: str  # its `runtime/metal` has `sources` and `headers`, its `text` the linker script
    sources: tuple[str, ...]
    headers: tuple[str, ...]
    gcc_isa: str  # "-march=...", what the machine's own instructions excepted
    zig_isa: str  # "-mcpu=..."
    abi: str  # "ilp32f"
    instructions: str  # macro that says whether kernels may use the machine's own instructions
    stacks: Stacks
    scratchpad: str  # the memory in which kernels compute
    addresses: Mapping[str, int]  # of its linker script: NAME_base of the scratchpad; base and bytes of others
    clock: str  # what counts cycles, for reports
    gcc_flags: tuple[str, ...] = ()  # of GNU's compiler, besides

    @property
    def script(self) -> str:
        """The linker script's file."""
        return f"{self.target}.ld"

    def linker_script(self, platform: Platform) -> str:
        """Memories as `platform` limits them: what exceeds one does not link."""
        scratchpad, base = self.scratchpad, self.addresses[f"{self.scratchpad}_base"]
        size = platform.memory(scratchpad).size_bytes or 0
        own = {f"{scratchpad}_bytes": size, "pool_bytes": size - platform.runtime_bytes[scratchpad]}
        numbers = {name: f"{number:#x}" for name, number in {**self.addresses, **own}.items()}
        stacks = {
            "near_stacks": self.stacks.inner_section(platform, base),
            "far_stacks": self.stacks.outer_section(platform),
        }
        return Template(_script(self.package, self.script)).substitute({**numbers, **stacks})

    def runtime(self) -> dict[str, bytes]:
        """The sources and headers of its own by their names."""
        home = files(self.package) / "runtime" / "metal"
        return {name: (home / name).read_bytes() for name in (*self.sources, *self.headers)}


@cache
def _script(package: str, name: str) -> str:
    return (files(package) / "text" / name).read_text(encoding="utf-8")


def machine_of(platform: Platform) -> BareMachine | None:
    """The machine of a target, as the installed packages name them; None for targets without one."""
    for point in entry_points(group=GROUP):
        if platform.runs(point.name):
            machine: BareMachine = point.load()
            return machine
    return None
