"""Knows the values that plugins offer or are told and that belong to no stage: exporters, commands, stage events.
Does not know who offers or receives them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

    from tilewright.ir.plans.stages import Allocated, Artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """Further files beside the generated C: `files` maps relative paths to bytes. Pure; asked for by name."""

    name: str
    summary: str
    files: Callable[[Allocated, Artifact], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A subcommand of `tilewright`. `load` returns it, importing what it needs, when the user types its name."""

    name: str
    summary: str
    load: Callable[[], click.Command]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEvent:
    """A stage has finished: its name, and the frozen value it returned."""

    stage: str
    value: object
