"""Knows which files the exporters `snitch` and `snrt` add beside the generated C.
Does not know what the generated code computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

from tilewright.api.exporter import Exporter
from tilewright_riscv.programs import bare_folder, demand_target
from tilewright_snitch.metal import MACHINE

if TYPE_CHECKING:
    from tilewright.api.stages import Allocated, Artifact


def bare_machine(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`snitch/`: runtime, linker script, a first program, and a Makefile for gcc and for zig.

    TilewrightError TW8041 (exit 2) where the plan is for another target.
    """
    return bare_folder(MACHINE, plan, artifact)


def snrt(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`snrt/`: `tw_rt` over the Snitch cluster's runtime, for a program of its own.

    TilewrightError TW8041 (exit 2) where the plan is for another target.
    """
    demand_target(plan, MACHINE.target, "snrt")
    home = files("tilewright_snitch") / "runtime" / "snrt"
    return {f"snrt/{name}": (home / name).read_bytes() for name in ("tw_rt_snrt.c", "tw_rt_snrt.h")}


EXPORTERS = (
    Exporter(
        name="snitch",
        summary="a program for the bare machine, below snitch/: Makefile, runtime",
        files=bare_machine,
    ),
    Exporter(name="snrt", summary="the runtime over the Snitch cluster's own, below snrt/", files=snrt),
)
