"""Knows the target `generic`: any CPU with a C11 compiler, one memory to compute in and one for constants.
Does not know any instruction set, and has no kernels: the core's portable C computes everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tilewright.api import hookimpl
from tilewright.api.platform import Engine, Memory, Option, Platform
from tilewright_cortexm.instructions import instruction_costs

USUAL_CORE = "m4"  # whose instructions and cycles estimates are of: of some CPU nothing is known


def _configured(platform: Platform, settings: Mapping[str, str]) -> Platform:
    align = int(settings["align"])
    return replace(platform, memories=tuple(replace(memory, align=align) for memory in platform.memories))


GENERIC = Platform(
    name="generic",
    summary="portable C11, any CPU",
    memories=(
        Memory(name="ram", size_bytes=None),
        Memory(name="flash", size_bytes=None, kind="const"),
    ),
    engines=(Engine(name="cpu", instructions=instruction_costs(USUAL_CORE)),),
    runners=("host",),
    options=(
        Option(
            name="align", help="alignment of the pools, in bytes", default="16", choices=("4", "8", "16", "32", "64")
        ),
    ),
    configure_with=_configured,
)


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The target alone: a plugin object of its own, so that a compilation for it imports no kernel of Cortex-M."""
    return (GENERIC,)
