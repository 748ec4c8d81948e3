"""Knows how a command finds its runner, and says what to install when it cannot run here. Does not run anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.errors import toolchain_error

if TYPE_CHECKING:
    from tilewright.deployment import Deployment
    from tilewright.runners.runner import Runner


def ready_runner(deployment: Deployment, name: str) -> Runner:
    """The runner of that name, or with "" the target's first. TilewrightError TW7001 (exit 7): it cannot run here."""
    from tilewright.plugins import load_named

    wanted = name or deployment.platform.runners[0]
    runner: Runner = load_named(("runner", wanted)).runners[wanted]
    missing = runner.available()
    if missing is not None:
        raise toolchain_error(
            "TW7001", f"runner '{wanted}' cannot run here", details=(missing,), fix=("tilewright doctor",)
        )
    return runner
