"""Knows which flags a plan was made with that changed nothing about it, and why. Does not know how plans are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from tilewright.config.options import Options
from tilewright.errors import Diagnostic, typed
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Allocated

CUTTING = ("cost", "min", "max", "random-max")  # tilers that leave layers whole where there is no scratchpad
NOTHING: Mapping[str, str] = MappingProxyType({})
_DEFAULTS = Options()


def idle_flags(plan: Allocated, options: Options, pins: Mapping[str, str] = NOTHING) -> Iterator[Diagnostic]:
    """A note (TW1123) that names the flags that changed nothing, each with its reason.

    `pins` are value -> memory, as the patterns of `--pin` name them; those of a decision file are not looked at:
    what a whole plan decided of a buffer is there of every value in it.
    """
    platform = plan.tiled.scheduled.bound.platform
    pinned = {value: memory for value, memory in pins.items() if value not in options.pins.memories}
    unkept = _about_pins(plan, pinned)
    idle = [*_about_rows(plan, options), *_about_tiles(platform, options), *unkept]
    if not idle:
        return
    apart = (typed("--groups", "1", gives="runs every step alone, so that pins are kept"),) if unkept else ()
    yield Diagnostic(
        code="TW1123",
        severity="note",
        message=f"these flags change nothing here: {', '.join(flag for flag, _ in idle)}",
        details=tuple(f"{flag}: {reason}" for flag, reason in idle),
        fix=(*apart, "leave these flags out"),
    )


def _about_rows(plan: Allocated, options: Options) -> list[tuple[str, str]]:
    """Flags and reasons where no step is computed row by row."""
    if any(region.line_buffers for region in plan.tiled.regions) or plan.decisions.recomputed:
        return []
    platform = plan.tiled.scheduled.bound.platform
    alone = not platform.inner and all(engine.cores == 1 for engine in platform.engines)
    smaller = "that is at most 10 % slower takes less memory" if options.optimize == "balanced" else "takes less memory"
    if not alone:
        why = f"target '{platform.name}' is no machine with one memory and one core"
    else:
        why = "tiles or groups are pinned" if options.pins.tiles or options.pins.groups else f"no such plan {smaller}"
    reason = f"no steps are computed row by row here, because {why}"
    fits = "speed is asked for, and the plan fits" if alone and options.optimize == "speed" else reason
    asked = (
        (options.optimize != _DEFAULTS.optimize, f"--optimize {options.optimize}", reason),
        (options.recompute != _DEFAULTS.recompute, f"--recompute {options.recompute:g}", fits),
    )
    return [(flag, why) for given, flag, why in asked if given]


def _about_tiles(platform: Platform, options: Options) -> list[tuple[str, str]]:
    """Flags and reasons where no tile is copied."""
    if platform.inner:
        return []
    reason = f"target '{platform.name}' has no scratchpad to which tiles are copied"
    asked = (
        (options.buffering != _DEFAULTS.buffering, f"--buffering {options.buffering}"),
        (options.tiler in CUTTING, f"--tiler {options.tiler}"),
    )
    return [(flag, reason) for given, flag in asked if given]


def _about_pins(plan: Allocated, pins: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pins, and reasons, of values that are in no memory whole: the steps around them run as one, in the scratchpad."""
    return [
        (
            f"--pin {value}={pins[value]}",
            f"it is only in '{region.internal_values[value].memory}', tile by tile: {_as_one(region)}",
        )
        for region in plan.tiled.regions
        for value in region.unmaterialised
        if region.hops and pins.get(value, region.internal_values[value].memory) != region.internal_values[value].memory
    ]


def _as_one(region: Region) -> str:
    *others, last = region.steps
    return f"steps {', '.join(others)} and {last} run as one"
