"""Knows every option of a compilation, as one frozen value with defaults. Does not know where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tilewright.config.memory_pools import PoolSpec
from tilewright.config.memory_rules import CopyRule
from tilewright.ir.machines.board import Board
from tilewright.ir.plans.decisions import Decisions, IoOwner
from tilewright.ir.plans.stages import PackageFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line and the Python API can ask for. Sizes are bytes."""

    name: str = ""  # C prefix; "" derives it from the model's file name
    dims: Mapping[str, int] = field(default_factory=dict)  # symbolic dimension -> extent
    network: str = ""  # of a file that has several, the one of this name; "" the first
    bind: Mapping[str, str] = field(default_factory=dict)  # input that is a constant -> a number, or a file .npy
    limits: Mapping[str, int] = field(default_factory=dict)  # what a file may ask for at most, by the words of --limit
    allow_external: bool | None = None  # files with tensors: below the model's folder, too, or none; None: beside it
    board: Board | None = None  # memories instead of the target's own
    memory_hierarchy: str = ""  # the same from an installed package, by name
    pools: tuple[PoolSpec, ...] = ()  # memories instead of the target's own of the same kind, best first
    memory: Mapping[str, int] = field(default_factory=dict)  # memory -> hard limit
    settings: Mapping[str, str] = field(default_factory=dict)  # target settings
    arithmetic: tuple[tuple[str, str], ...] = ()  # pattern of integer layers -> what they compute; the last counts
    io_inputs: IoOwner = "pool"  # where the graph's inputs live; "push": they arrive in rows
    io_outputs: IoOwner = "pool"  # where its outputs live; "pull": they are taken in rows
    io_of: Mapping[str, IoOwner] = field(default_factory=dict)  # the same for single ones
    io_type: str = "float"  # of inputs and outputs that are quantised behind the border: an integer type, or as it is
    io_type_of: Mapping[str, str] = field(default_factory=dict)  # the same for single ones
    io_layouts: Mapping[str, str] = field(default_factory=dict)  # input or output -> "nhwc": channels last, or "nchw"
    memory_pins: tuple[tuple[str, str], ...] = ()  # pattern of tensors, layers or weights -> memory; the last counts
    constant_copies: tuple[CopyRule, ...] = ()  # constants that are copied to another memory; the last rule counts
    choose_constant_copies: bool = False  # the cost model chooses further ones
    states: tuple[str, ...] = ()  # OUTPUT:INPUT[=BEGINNING]: outputs that are inputs of the next run
    states_folder: Path = Path()  # where files named there are
    slide: str = ""  # INPUT[AXIS]=HOP: an input of which a call gets what is new of a window that slides
    allocator: str = "auto"
    tiler: str = "auto"
    buffering: Literal["single", "double", "auto"] = "auto"  # tile buffers of an operand copied more than once
    groups: int | None = None  # longest chain of steps joined through the scratchpad; 1: layer by layer; None: any
    optimize: Literal["speed", "balanced", "ram"] = "speed"  # by rows: to fit, or 1 % slower; 10 %; the least
    recompute: float = 1.0  # by rows in stripes: operations, at most so many times those of the network
    effort: int = 200_000  # allocator work units
    code_passes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # beside the default ones -> settings
    seed: int = 0
    clock_hz: int | None = None  # of the processor, to say estimates of cycles as time; None: not known
    const_format: Literal["auto", "incbin", "c", "bin"] = "auto"
    layout: Literal["single", "split"] = "single"  # kernels in the network's file, or in a header of their own
    emit: tuple[str, ...] = ("cmake",)  # exporters: build systems, and what plugins bring
    package: PackageFacts = field(default_factory=PackageFacts)  # what generated packages are called
    selftest: bool = False  # also write NAME_selftest.c with embedded vectors
    pins: Decisions = field(default_factory=Decisions)
