"""Knows the exporter `bench`: C that measures a network where it runs, and answers on a serial line.
Does not know who asks, nor what a serial line is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tilewright import __version__
from tilewright.errors import unsupported_error
from tilewright.exporters.texts import render
from tilewright.ir.plans.plan_id import plan_digest

if TYPE_CHECKING:
    from tilewright.ir.plans.stages import Allocated, Artifact

TEAM_HEADER = "tw_rt.h"  # is among the files of a program for several cores
WHOLE = ("pool", "user")  # whose inputs and outputs are somewhere whole


def bench(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`PREFIX_bench.h` and `PREFIX_bench.c`: a function that answers on a serial line.

    TilewrightError TW7136 (exit 4): inputs or outputs pass in rows, constants are loaded from a file, or several cores
    compute.
    """
    demand_measurable(plan, artifact)
    io = plan.decisions.io
    inputs = [parameter for parameter in artifact.parameters if parameter.is_input]
    outputs = [parameter for parameter in artifact.parameters if not parameter.is_input]
    callers = [parameter for parameter in artifact.parameters if io.get(parameter.value, "pool") == "user"]
    names = {
        "model": artifact.prefix,
        "inputs": inputs,
        "outputs": outputs,
        "callers": callers,
        "mapped": len(callers) < len(artifact.parameters),
        "pools": artifact.pools,
        "sections": {memory.name: memory.section for memory in plan.tiled.scheduled.bound.platform.memories},
        "state": "state" if any(use.kind == "state" and use.used_bytes for use in plan.pools) else "NULL",
        "result": outputs[0] if outputs else None,
        "digest": plan_digest(plan, __version__),
    }
    texts = {f"{artifact.prefix}_bench.h": "bench_header.mako", f"{artifact.prefix}_bench.c": "bench_source.mako"}
    return {name: render(text, artifact, **names).encode("ascii") for name, text in texts.items()}


def demand_measurable(plan: Allocated, artifact: Artifact) -> None:
    """TilewrightError TW7136 (exit 4) where there is no such firmware."""
    loaded = bool(artifact.blobs) and not any(
        name.startswith(f"{artifact.prefix}_weights.") for name in artifact.sources
    )
    passing = sorted(value for value, whose in plan.decisions.io.items() if whose not in WHOLE)
    reasons = (
        *(f"'{value}' passes in rows (--io)" for value in passing),
        *(["constants are loaded from a file (--const-format bin)"] if loaded else []),
        *(["several cores compute it"] if TEAM_HEADER in artifact.files else []),
    )
    if reasons:
        raise unsupported_error("TW7136", "this program cannot be measured over a serial line", details=reasons)
