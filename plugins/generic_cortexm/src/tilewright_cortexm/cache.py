"""Knows the pass `cortex-m-cache`: on cores with a data cache, inputs and outputs in the plan meet other bus masters.
Does not know whether any does: the macro is empty unless the application defines TW_CACHE_MAINTENANCE.

A DMA that fills a mapped input writes behind the cache, one that sends an output away reads behind it. So both are
cleaned and invalidated at the end of a run (no dirty line is left that would later fall onto what the DMA wrote), and
inputs once more at the beginning (lines that were fetched meanwhile are stale).
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.api.passes import CodePass, CodePassContext, Program, Raw
from tilewright_cortexm.cores import core_named


def cache_line_bytes(program: Program) -> int:
    """Of the core that the program is for; 0 is no data cache, or no Cortex-M."""
    name = program.allocated.tiled.scheduled.bound.platform.settings.get("core", "")
    return core_named(name).cache_line_bytes if name else 0


def _apply(program: Program, context: CodePassContext) -> Program:
    if not cache_line_bytes(program) or not program.sources:
        return program
    before, after = _flushes(program, outputs=False), _flushes(program, outputs=True)
    return replace(program, body=(*before, *program.body, *after))


def _flushes(program: Program, *, outputs: bool) -> tuple[Raw, ...]:
    """One statement for each range of bytes that inputs (and outputs) have in a pool; they may share one."""
    ports = (*program.inputs, *program.outputs) if outputs else program.inputs
    ranges = {(port.pool, port.offset_bytes, port.tensor.size_bytes): port for port in ports if port.pool}
    return tuple(
        Raw(text=f"TW_CACHE_FLUSH({port.pool} + {port.offset}, {port.tensor.size_bytes}u);") for port in ranges.values()
    )


CACHE = CodePass(
    name="cortex-m-cache",
    summary="clean and invalidate inputs and outputs in the plan, on cores with a data cache (macro TW_CACHE_FLUSH)",
    apply=_apply,
    after=("hooks", "lifetimes"),
    default=True,
)
