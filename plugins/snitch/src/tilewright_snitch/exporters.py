"""Knows which files the exporter `snitch` adds beside the generated C.
Does not know what the generated code computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tilewright.api.exporter import Exporter
from tilewright_riscv.programs import bare_folder
from tilewright_snitch.metal import MACHINE

if TYPE_CHECKING:
    from tilewright.api.stages import Allocated, Artifact


def bare_machine(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`snitch/`: runtime, linker script, a first program, and a Makefile for gcc and for zig.

    TilewrightError TW8041 (exit 2) where the plan is for another target.
    """
    return bare_folder(MACHINE, plan, artifact)


EXPORTERS = (
    Exporter(
        name="snitch",
        summary="a program for the bare machine, below snitch/: Makefile, runtime",
        files=bare_machine,
    ),
)
