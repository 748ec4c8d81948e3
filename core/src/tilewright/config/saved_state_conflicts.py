"""Knows what a saved state brings with it, and which options contradict it. Does not know how states are saved."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.config.io_types import border_types
from tilewright.config.options import Options
from tilewright.config.recurrent_state import kept_pairs
from tilewright.config.streamed_io import io_owners
from tilewright.errors import Diagnostic, TilewrightError, usage_error
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Allocated, Bound, Scheduled, Tiled

_DEFAULTS = Options()
# What each saved value has decided beyond the ones before it: fields of Options, and the flags that set them.
_DECIDED = (
    (Graph, {"dims": "--dim", "bind": "--bind"}),
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
    stages = [stage for stage, _ in _DECIDED]
    passed = _DECIDED[: 1 + stages.index(type(value))]
    flags = [
        flag
        for _, names in passed
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
    other = [f"--target {target}: it was made for '{saved.name}'"] if target != saved.name else []
    other += [
        f"--memory {name}={size}: it has {sizes.get(name, 'no such memory')}"
        for name, size in options.memory.items()
        if sizes.get(name) != size
    ]
    other += [
        f"--set {name}={value}: it has {saved.settings.get(name, 'no such setting')}"
        for name, value in options.settings.items()
        if saved.settings.get(name) != value
    ]
    if other:
        raise _contradicted("the saved state was made for another target, or with other sizes or settings", other)


def demand_same_border(saved: Graph, options: Options) -> None:
    """TilewrightError TW1223 (exit 2) where `--io-type` asks for inputs or outputs that a saved graph does not have."""
    other = [
        f"--io-type: '{name}' is {saved.tensors[name].dtype.value}"
        for name, dtype in border_types(saved, options).items()
        if saved.tensors[name].dtype is not dtype
    ]
    if other:
        raise _contradicted("the saved state was made with other types of inputs and outputs", other)


def demand_same_io(saved: Allocated, options: Options) -> None:
    """TilewrightError TW1223 (exit 2) where `--io` or `--state` ask for other ends than a saved plan has.

    What is not asked for is the plan's: without these flags there is nothing to contradict.
    """
    graph, decided = saved.tiled.scheduled.bound.graph, saved.decisions
    named = {*options.io_of}
    named |= {*graph.inputs} if options.io_inputs != _DEFAULTS.io_inputs else set()
    named |= {*graph.outputs} if options.io_outputs != _DEFAULTS.io_outputs else set()
    kept = {*decided.state.keys(), *decided.state.values()}
    other = [
        f"--io {name}={whose}: it has {decided.io.get(name, 'no such input or output')}"
        for name, whose in io_owners(options, graph.inputs, graph.outputs).items()
        if name in named - kept and decided.io.get(name) != whose
    ]
    other += [
        f"--state {output}:{name}: it keeps {f'{decided.state[name]}:{name}' if name in decided.state else 'no such'}"
        for output, name in kept_pairs(options.states, graph)
        if decided.state.get(name) != output
    ]
    if other:
        raise _contradicted("the saved plan has its inputs and outputs elsewhere, or keeps other state", other)


def demand_same_pools(saved: Platform, options: Options) -> None:
    """TilewrightError TW1223 (exit 2) where `--pool` names memories, or sizes, that a saved value does not have."""
    sizes = {memory.name: memory.size_bytes for memory in saved.memories}
    other = [
        f"--pool {pool.name}{f':{pool.size_bytes}' if pool.size_bytes else ''}: "
        f"it has {sizes.get(pool.name, 'no such memory')}"
        for pool in options.pools
        if pool.name not in sizes or pool.size_bytes not in (None, sizes[pool.name], options.memory.get(pool.name))
    ]
    if other:
        raise _contradicted("the saved state was made for other pools", other)


def _contradicted(message: str, details: list[str]) -> TilewrightError:
    return usage_error(
        "TW1223",
        message,
        details=tuple(details),
        fix=("leave these flags out: a state brings its own", "compile without --import-state"),
    )
