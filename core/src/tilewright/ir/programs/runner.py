"""Knows what a runner is asked and what it answers. Does not know any runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from tilewright.ir.machines.flash_waits import FlashWaits
from tilewright.ir.plans.stages import Allocated, Artifact

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Run `artifact` once for each set of inputs."""

    artifact: Artifact
    plan: Allocated
    prefix: str  # the model's C prefix
    input_sets: tuple[Mapping[str, Array], ...] = field(compare=False)  # graph input name -> array
    trace: bool = False  # also return what every step wrote,
    untraced: int = 0  # but for so many sets at the beginning: their `values` are empty
    sanitize: bool = False  # under AddressSanitizer and UndefinedBehaviorSanitizer, where the runner can
    timeline: bool = False  # also return when things happened, where the runner has a clock
    flash: FlashWaits | None = None  # of the board, where that is known: for a runner that models cycles
    clock_hz: int | None = None  # of the core, for the same


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpan:
    """Something that took time on one track: "cores", or "copies to MEMORY"."""

    track: str
    name: str
    step: str
    begin: int  # cycles
    end: int
    details: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Bytes in use in a memory from a cycle on."""

    memory: str
    cycle: int
    used_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One inference on a clock that counts cycles from 0."""

    spans: tuple[TimeSpan, ...]
    levels: tuple[Level, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What happened. Arrays are row-major in the graph's shapes."""

    outputs: tuple[Mapping[str, Array], ...] = field(compare=False)  # one mapping for each input set
    values: tuple[Mapping[str, Array], ...] = field(default=(), compare=False)  # with `trace`: every value a step wrote
    counts: Mapping[str, int] = field(default_factory=dict)  # "instructions", "cycles", "stack_bytes", ...
    step_counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    kind: Literal["measured", "estimate", "none"] = "none"
    clock: str = ""  # what `cycles` were measured on, where it is not the machine itself
    model: str = ""  # what cycles that are modelled are those of, where some are
    timeline: Timeline | None = None  # of the first set of inputs, with `Job.timeline`


@runtime_checkable
class Runner(Protocol):
    """Something that can execute what is generated."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    def available(self) -> str | None:
        """None, or one line saying what to install."""
        ...

    def run(self, job: Job, folder: Path) -> RunResult:
        """Build in `folder`, execute, return. TilewrightError (exit 7) with the tool's own words when it fails."""
        ...


@runtime_checkable
class CountingRunner(Protocol):
    """A runner that says beforehand what it counts, so that nobody builds a program for one that counts nothing."""

    @property
    def counts(self) -> tuple[str, ...]:
        """Units: "instructions", "cycles", or none of them."""
        ...


@runtime_checkable
class PortRunner(Protocol):
    """A runner of boards at a port, which `--on NAME:PORT` names."""

    def at(self, port: str) -> Runner:
        """The same runner on that port; "" where none was named."""
        ...


def counted_units(runner: Runner) -> tuple[str, ...] | None:
    """The units that a runner says it counts, () where that is nothing; None for a runner that does not say, whose
    `RunResult` may still be of kind "none".
    """
    return runner.counts if isinstance(runner, CountingRunner) else None
