"""Knows which files the exporters of a cluster add: a program for the bare machine, and tw_rt over the vendor's
own runtime. Does not know any machine, nor what the generated code computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

from tilewright.api.exporter import Exporter
from tilewright_riscv.machine import BareMachine
from tilewright_riscv.programs import bare_folder, demand_target

if TYPE_CHECKING:
    from tilewright.api.stages import Allocated, Artifact


def bare_exporter(machine: BareMachine) -> Exporter:
    """The exporter named as the target: runtime, linker script, a first program, and a Makefile for gcc and for zig.

    Its `files` raises TilewrightError TW8041 (exit 2) where the plan is for another target.
    """

    def written(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
        return bare_folder(machine, plan, artifact)

    summary = f"a program for the bare machine, below {machine.target}/: Makefile, runtime"
    return Exporter(name=machine.target, summary=summary, files=written)


def runtime_exporter(machine: BareMachine, sdk: str, summary: str) -> Exporter:
    """The exporter named as a vendor's runtime: `tw_rt_SDK.c` and `.h` of the machine's package, in `runtime/SDK`, for
    an application of its own.

    Its `files` raises TilewrightError TW8041 (exit 2) where the plan is for another target.
    """

    def written(plan: Allocated, _: Artifact) -> Mapping[str, bytes]:
        demand_target(plan, machine.target, sdk)
        home = files(machine.package) / "runtime" / sdk
        return {f"{sdk}/{name}": (home / name).read_bytes() for name in (f"tw_rt_{sdk}.c", f"tw_rt_{sdk}.h")}

    return Exporter(name=sdk, summary=summary, files=written)
