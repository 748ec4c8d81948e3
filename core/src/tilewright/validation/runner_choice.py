"""Knows how a runner is found, and says what to install when it cannot run here. Does not run anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilewright.errors import toolchain_error, typed, usage_error

if TYPE_CHECKING:
    from tilewright.deployment import Deployment
    from tilewright.ir.programs.runner import Runner


def ready_runner(deployment: Deployment, name: str) -> Runner:
    """The runner of that name, or with "" the target's first. TilewrightError TW7001 (exit 7): it cannot run here.

    A name may leave out what follows a dash where the target has one such runner: `qemu` for `qemu-riscv32`. What
    follows a colon is the port of a runner that has one: `serial:/dev/ttyACM0`.
    """
    from tilewright.ir.programs.runner import PortRunner
    from tilewright.plugins import load_named

    name, colon, port = name.partition(":")
    wanted = full_name(name, deployment.platform.runners)
    runner: Runner = load_named(("runner", wanted)).runners[wanted]
    if colon and not isinstance(runner, PortRunner):
        raise usage_error("TW7131", f"runner '{wanted}' has no port", fix=(f"--on {wanted}",))
    missing = runner.available()
    if missing is not None:
        raise toolchain_error(
            "TW7001", f"runner '{wanted}' cannot run here", details=(missing,), fix=(typed("tilewright", "doctor"),)
        )
    return runner.at(port) if isinstance(runner, PortRunner) else runner


def full_name(name: str, runners: Sequence[str]) -> str:
    """What `name` means for a target that has these runners; as it is where it means none of them, or several."""
    longer = [runner for runner in runners if runner.startswith(f"{name}-")]
    return longer[0] if name not in runners and len(longer) == 1 else name or runners[0]
