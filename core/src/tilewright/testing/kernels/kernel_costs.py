"""Knows whether what a kernel says that it costs can be: beside the throughput of its engine, and beside what a runner
has measured. Does not know what a kernel computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.bind.candidates import engine_of, whole_cycles
from tilewright.config.options import Options
from tilewright.ir.graphs.graph import Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.layer import Layer
from tilewright.ir.plugin_contract import place_of
from tilewright.ir.programs.runner import Runner
from tilewright.plugins import Registry
from tilewright.testing.side_by_side import side_by_side

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

FASTER = 100.0  # than the stated throughput of its engine no kernel is
APART = 4.0  # an estimate and what was measured, in either direction, and CALL_CYCLES
CALL_CYCLES = 1000.0  # of a step, which small layers are made of


def throughput_fault(layer: Layer, platform: Platform) -> str | None:
    """Why a kernel cannot be as fast as it says, or None."""
    kernel = layer.kernel
    if kernel.cycles is None and kernel.instructions is None:
        return None
    stated = whole_cycles(layer, platform)
    plain = replace(kernel, cycles=None, instructions=None, target=platform.name)
    usual = whole_cycles(Layer(operator=layer.operator, kernel=plain, site=layer.site), platform)
    if stated * FASTER >= usual:
        return None
    engine = engine_of(kernel, platform)
    return (
        f"kernel '{kernel.name}'{_place(kernel)} says that this layer takes {stated:,.3g} cycles; at "
        f"{engine.operations_per_cycle:g} operations per cycle engine '{engine.name}' takes {usual:,.3g}: correct "
        "`cycles` of the kernel, or the engine"
    )


def cost_faults(
    site: Site,
    inputs: Sequence[Array | None],
    target: str,
    registry: Registry,
    runner: Runner,
    folder: Path,
) -> list[str]:
    """Where a step of a program with this one layer takes another time on the runner than was estimated, by more than a
    factor of `APART`. Empty where it does not, and where the runner counts no cycles of steps.
    """
    alone = side_by_side([(site, inputs)])
    plan = alone.deployment(target, Options(), registry)
    ran = alone.run(plan, runner, folder, trace=False)
    faults = []
    for group in plan.tiled.groups:
        counted = [ran.step_counts.get(step, {}).get("cycles") for step in group.steps]
        measured = float(sum(count for count in counted if count is not None))
        if None in counted or _near(group.cycles, measured):
            continue
        kernels = " and ".join(_stated(plan.bound.bindings[step].kernel, registry) for step in group.steps)
        faults.append(
            f"{kernels} is estimated to take {group.cycles:,.0f} cycles and takes {measured:,.0f} "
            f"on runner '{runner.name}': correct `cycles`, or the copies of target '{target}'"
        )
    return faults


def _stated(kernel: Kernel, registry: Registry) -> str:
    """A kernel, where its cost is stated, and in which package."""
    owner = registry.provenance.get(("kernel", kernel.name))
    package = f" of {owner.distribution} {owner.version}" if owner else ""
    return f"kernel '{kernel.name}'{package}{_place(kernel)}"


def _place(kernel: Kernel) -> str:
    """Where the function stands that says what a kernel costs."""
    place = place_of(kernel.cycles or kernel.instructions)
    return f" (`{'cycles' if kernel.cycles else 'instructions'}` at {place})" if place else ""


def _near(estimate: float, measured: float) -> bool:
    return estimate <= APART * measured + CALL_CYCLES and measured <= APART * estimate + CALL_CYCLES
