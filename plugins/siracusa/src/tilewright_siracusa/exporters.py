"""Knows which files the exporters `siracusa` and `pmsis` add beside the generated C.
Does not know what the generated code computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

from tilewright.api.exporter import Exporter
from tilewright_riscv.programs import bare_folder, demand_target
from tilewright_siracusa.metal import MACHINE

if TYPE_CHECKING:
    from tilewright.api.stages import Allocated, Artifact


def bare_machine(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`siracusa/`: runtime, linker script, a first program, and a Makefile for gcc and for zig.

    TilewrightError TW8041 (exit 2) where the plan is for another target.
    """
    return bare_folder(MACHINE, plan, artifact)


def pmsis(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`pmsis/`: `tw_rt` over the PULP SDK, for an application of its own.

    TilewrightError TW8041 (exit 2) where the plan is for another target.
    """
    demand_target(plan, MACHINE.target, "pmsis")
    home = files("tilewright_siracusa") / "runtime" / "pmsis"
    return {f"pmsis/{name}": (home / name).read_bytes() for name in ("tw_rt_pmsis.c", "tw_rt_pmsis.h")}


EXPORTERS = (
    Exporter(
        name="siracusa",
        summary="a program for the bare machine, below siracusa/: Makefile, runtime",
        files=bare_machine,
    ),
    Exporter(name="pmsis", summary="the runtime for the PULP SDK, below pmsis/", files=pmsis),
)
