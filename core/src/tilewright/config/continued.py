"""Knows what a saved state brings with it, and which options contradict it. Does not know how states are saved."""

from __future__ import annotations

from tilewright.config.io_types import border_types
from tilewright.config.options import Options
from tilewright.errors import TilewrightError, usage_error
from tilewright.ir.graph import Graph
from tilewright.ir.platform import Platform
from tilewright.ir.stages import Allocated, Bound, Scheduled, Tiled


def bound_of(value: Bound | Scheduled | Tiled | Allocated) -> Bound:
    """The Bound that a later value came from."""
    if isinstance(value, Allocated):
        value = value.tiled
    if isinstance(value, Tiled):
        value = value.scheduled
    return value.bound if isinstance(value, Scheduled) else value


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


def _contradicted(message: str, details: list[str]) -> TilewrightError:
    return usage_error(
        "TW1223",
        message,
        details=tuple(details),
        fix=("leave these flags out: a state brings its own", "compile without --import-state"),
    )
