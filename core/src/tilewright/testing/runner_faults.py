"""Knows whether a runner executes a program as it is: where its outputs are wrong, a runner of the core runs the same
program, which tells whose fault it is. Does not know any runner of a package.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Site
from tilewright.ir.plugin_contract import place_of
from tilewright.ir.programs.runner import Runner, RunResult
from tilewright.plugins import Registry
from tilewright.runners.host import HostRunner
from tilewright.runners.twin import TwinRunner
from tilewright.testing.operator_sites import result_errors
from tilewright.testing.side_by_side import SideBySide, side_by_side

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def runner_faults(
    site: Site, inputs: Sequence[Array | None], target: str, registry: Registry, runner: Runner, folder: Path
) -> list[str]:
    """What is wrong with a program of this one layer on `runner`, and whether the runner or the kernel did it. Empty
    where the outputs are the reference's.
    """
    alone = side_by_side([(site, inputs)])
    plan = alone.deployment(target, Options(), registry)
    wrong = _wrong(alone, plan, site, inputs, alone.run(plan, runner, _made(folder, "theirs"), trace=False))
    if not wrong:
        return []
    (binding,) = plan.bound.bindings.values() if len(plan.bound.bindings) == 1 else (None,)
    kernel = f"kernel '{binding.kernel.name}'" if binding else f"the kernels of {site.node.op}"
    here = TwinRunner() if plan.platform.inner else HostRunner()
    verdict = _verdict(alone, plan, site, inputs, here, _made(folder, "ours"))
    if verdict is None:
        return [
            f"{_named(runner, registry)} executes a program otherwise than '{here.name}', where {kernel} computes what "
            f"it should; look at strides and places: {wrong[0]}"
        ]
    return [f"{kernel} on {_named(runner, registry)}: {wrong[0]}; on '{here.name}': {verdict}"]


def _made(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir(parents=True)
    return made


def _named(runner: Runner, registry: Registry) -> str:
    """The runner, its package, and where its function stands."""
    owner = registry.provenance.get(("runner", runner.name))
    package = f" of {owner.distribution} {owner.version}" if owner else ""
    return f"runner '{runner.name}'{package} (`run` at {place_of(runner.run)})"


def _verdict(
    alone: SideBySide, plan: Deployment, site: Site, inputs: Sequence[Array | None], here: Runner, folder: Path
) -> str | None:
    """What a runner of the core says; None where the outputs are right there."""
    if (missing := here.available()) is not None:
        return missing
    try:
        wrong = _wrong(alone, plan, site, inputs, alone.run(plan, here, folder, trace=False))
    except TilewrightError as error:
        return error.message
    return wrong[0] if wrong else None


def _wrong(
    alone: SideBySide, plan: Deployment, site: Site, inputs: Sequence[Array | None], ran: RunResult
) -> list[str]:
    outputs = [ran.outputs[0][name] for name in alone.graph.outputs]
    return result_errors(plan.registry.operators[site.node.op], site, inputs, outputs)
