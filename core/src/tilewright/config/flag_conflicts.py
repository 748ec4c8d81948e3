"""Knows which flags changed nothing about a plan, and which ones a saved state has decided already or contradicts.
Does not know how plans are made, or how states are saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from tilewright.config.graph_io import border_types, io_owners
from tilewright.config.options import Options
from tilewright.config.recurrent_state import kept_pairs
from tilewright.config.sliding import other_slide
from tilewright.errors import Diagnostic, TilewrightError, typed, usage_error
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Allocated, Bound, Scheduled, Tiled

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
    ignored_pins = _ignored_pins(plan, pinned)
    idle = [*_idle_line_buffer_flags(plan, options), *_idle_tile_flags(platform, options), *ignored_pins]
    if not idle:
        return
    suggestion = (typed("--groups", "1", gives="runs every step alone, so that pins are kept"),) if ignored_pins else ()
    yield Diagnostic(
        code="TW1123",
        severity="note",
        message=f"these flags change nothing here: {', '.join(flag for flag, _ in idle)}",
        details=tuple(f"{flag}: {reason}" for flag, reason in idle),
        fix=(*suggestion, "leave these flags out"),
    )


def _idle_line_buffer_flags(plan: Allocated, options: Options) -> list[tuple[str, str]]:
    """Flags and reasons where no step is computed row by row, nor with another kernel for less scratch."""
    others = plan.decisions.kernels.keys() - options.pins.kernels.keys()
    if any(region.line_buffers for region in plan.tiled.regions) or plan.decisions.recomputed or others:
        return []
    platform = plan.tiled.scheduled.bound.platform
    one_core = not platform.inner and all(engine.cores == 1 for engine in platform.engines)
    smaller = "that is at most 10 % slower takes less memory" if options.optimize == "balanced" else "takes less memory"
    if not one_core:
        why = f"target '{platform.name}' is no machine with one memory and one core"
    else:
        why = "tiles or groups are pinned" if options.pins.tiles or options.pins.groups else f"no such plan {smaller}"
    reason = f"no steps are computed row by row here, because {why}"
    fits = "speed is asked for, and the plan fits" if one_core and options.optimize == "speed" else reason
    flags = (
        (options.optimize != _DEFAULTS.optimize, f"--optimize {options.optimize}", reason),
        (options.recompute != _DEFAULTS.recompute, f"--recompute {options.recompute:g}", fits),
    )
    return [(flag, why) for differs, flag, why in flags if differs]


def _idle_tile_flags(platform: Platform, options: Options) -> list[tuple[str, str]]:
    """Flags and reasons where no tile is copied."""
    if platform.inner:
        return []
    reason = f"target '{platform.name}' has no scratchpad to which tiles are copied"
    flags = (
        (options.buffering != _DEFAULTS.buffering, f"--buffering {options.buffering}"),
        (options.tiler in CUTTING, f"--tiler {options.tiler}"),
    )
    return [(flag, reason) for differs, flag in flags if differs]


def _ignored_pins(plan: Allocated, pins: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pins, and reasons, of values that are in no memory whole: the steps around them run as one, in the scratchpad."""
    return [
        (
            f"--pin {value}={pins[value]}",
            f"it is only in '{region.internal_values[value].memory}', tile by tile: {_fused_steps(region)}",
        )
        for region in plan.tiled.regions
        for value in region.unmaterialised
        if region.hops and pins.get(value, region.internal_values[value].memory) != region.internal_values[value].memory
    ]


def _fused_steps(region: Region) -> str:
    *others, last = region.steps
    return f"steps {', '.join(others)} and {last} run as one"


# What each saved value has decided beyond the ones before it: fields of Options, and the flags that set them.
_DECIDED_BY = (
    (Graph, {"dims": "--dim", "bind": "--bind", "network": "--network"}),
    (Bound, {"board": "--board", "memory_hierarchy": "--board", "pools": "--pool"}),
    (
        Scheduled,
        {"optimize": "--optimize", "recompute": "--recompute", "choose_constant_copies": "--stage auto"},
    ),
    (Tiled, {"tiler": "--tiler", "buffering": "--buffering", "groups": "--groups"}),
    (
        Allocated,
        {"memory_pins": "--pin", "pins": "--pin", "constant_copies": "--stage", "allocator": "--allocator"},
    ),
)


def decided_already(value: Graph | Bound | Scheduled | Tiled | Allocated, options: Options) -> Iterator[Diagnostic]:
    """A note (TW1227) that names the flags whose questions a saved value has answered: they change nothing."""
    stages = [stage for stage, _ in _DECIDED_BY]
    earlier = _DECIDED_BY[: 1 + stages.index(type(value))]
    flags = [
        flag
        for _, names in earlier
        for name, flag in names.items()
        if getattr(options, name) != getattr(_DEFAULTS, name)
    ]
    if named := ", ".join(dict.fromkeys(flags)):
        yield Diagnostic(
            code="TW1227",
            severity="note",
            message=f"what these flags ask for is settled before such a state is saved: {named}",
            details=("it keeps its own decisions, and what is chosen together with them is not looked for again",),
            fix=("leave these flags out, or compile without --import-state",),
        )


def bound_of(value: Bound | Scheduled | Tiled | Allocated) -> Bound:
    """The Bound that a later value came from."""
    if isinstance(value, Allocated):
        value = value.tiled
    if isinstance(value, Tiled):
        value = value.scheduled
    return value.bound if isinstance(value, Scheduled) else value


def demand_same(value: Bound | Scheduled | Tiled | Allocated, bound: Bound, target: str, options: Options) -> None:
    """TilewrightError TW1223 (exit 2) where anything that is asked for is not what the saved value was made for."""
    demand_same_target(bound.platform, target, options)
    demand_same_pools(bound.platform, options)
    demand_same_border(bound.graph, options)
    if isinstance(value, Allocated):
        demand_same_io(value, options)


def demand_same_target(saved: Platform, target: str, options: Options) -> None:
    """TilewrightError TW1223 (exit 2) where what is asked for with a saved state is not what it was made for."""
    sizes = {memory.name: memory.size_bytes for memory in saved.memories}
    conflicts = [f"--target {target}: it was made for '{saved.name}'"] if target != saved.name else []
    conflicts += [
        f"--memory {name}={size}: it has {sizes.get(name, 'no such memory')}"
        for name, size in options.memory.items()
        if sizes.get(name) != size
    ]
    conflicts += [
        f"--set {name}={value}: it has {saved.settings.get(name, 'no such setting')}"
        for name, value in options.settings.items()
        if saved.settings.get(name) != value
    ]
    if conflicts:
        raise _contradicted("the saved state was made for another target, or with other sizes or settings", conflicts)


def demand_same_border(saved: Graph, options: Options) -> None:
    """TilewrightError TW1223 (exit 2) where `--io-type` or `--slide` ask for inputs or outputs that a saved graph does
    not have, and for any `--io-layout`: how a saved graph's are handed over is in it.
    """
    conflicts = [*other_slide(options.slide, saved)]
    conflicts += [
        f"--io-type: '{name}' is {saved.tensors[name].dtype.value}"
        for name, dtype in border_types(saved, options).items()
        if saved.tensors[name].dtype is not dtype
    ]
    conflicts += [f"--io-layout {name}={word}: the state keeps its own" for name, word in options.io_layouts.items()]
    if conflicts:
        raise _contradicted("the saved state was made with other inputs and outputs, types or layouts", conflicts)


def demand_same_io(saved: Allocated, options: Options) -> None:
    """TilewrightError TW1223 (exit 2) where `--io` or `--state` ask for other ends than a saved plan has.

    What is not asked for is the plan's: without these flags there is nothing to contradict.
    """
    graph, decided = saved.tiled.scheduled.bound.graph, saved.decisions
    named = {*options.io_of}
    named |= {*graph.inputs} if options.io_inputs != _DEFAULTS.io_inputs else set()
    named |= {*graph.outputs} if options.io_outputs != _DEFAULTS.io_outputs else set()
    states = {*decided.state.keys(), *decided.state.values()}
    conflicts = [
        f"--io {name}={owner}: it has {decided.io.get(name, 'no such input or output')}"
        for name, owner in io_owners(options, graph.inputs, graph.outputs).items()
        if name in named - states and decided.io.get(name) != owner
    ]
    conflicts += [
        f"--state {output}:{name}: it keeps {f'{decided.state[name]}:{name}' if name in decided.state else 'no such'}"
        for output, name in kept_pairs(options.states, graph)
        if decided.state.get(name) != output
    ]
    if conflicts:
        raise _contradicted("the saved plan has its inputs and outputs elsewhere, or keeps other state", conflicts)


def demand_same_pools(saved: Platform, options: Options) -> None:
    """TilewrightError TW1223 (exit 2) where `--pool` names memories, or sizes, that a saved value does not have."""
    sizes = {memory.name: memory.size_bytes for memory in saved.memories}
    conflicts = [
        f"--pool {pool.name}{f':{pool.size_bytes}' if pool.size_bytes else ''}: "
        f"it has {sizes.get(pool.name, 'no such memory')}"
        for pool in options.pools
        if pool.name not in sizes or pool.size_bytes not in (None, sizes[pool.name], options.memory.get(pool.name))
    ]
    if conflicts:
        raise _contradicted("the saved state was made for other pools", conflicts)


def _contradicted(message: str, details: list[str]) -> TilewrightError:
    return usage_error(
        "TW1223",
        message,
        details=tuple(details),
        fix=("leave these flags out: a state brings its own", "compile without --import-state"),
    )
