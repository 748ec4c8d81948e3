"""Knows what a user may choose about reading a model: values of symbolic dimensions and limits.
Does not know how a model is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a file may ask for at most. Far above real networks for small machines, far below a hang."""

    file_bytes: int = (1 << 31) - 1  # protobuf itself stops here
    nodes: int = 100_000  # after functions are inlined
    initializers: int = 100_000
    nesting: int = 32  # functions and control-flow bodies inside each other
    name_length: int = 4096  # characters
    rank: int = 32
    tensor_bytes: int = (1 << 31) - 1  # of any value
    constant_bytes: int = (1 << 31) - 1  # of all constants together
    fold_bytes: int = 1 << 26  # of one value computed during import
    fold_total_bytes: int = 1 << 28  # of all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """`dims` gives values to symbolic dimensions (`--dim`); `allow_external` permits files beside the model."""

    dims: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    allow_external: bool = False
    limits: Limits = field(default_factory=Limits)
