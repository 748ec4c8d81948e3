"""Knows what a layer is that tests tile and run: one node with its inputs. Does not know any operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tilewright.ir.graphs.graph import Attribute

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One node: its inputs, which of them are known at compile time, its attributes."""

    op: str
    kind: str = ""  # what is particular about it
    inputs: tuple[Array | None, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    constants: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Unique among all layers; an identifier of C."""
        return f"{self.op}_{self.kind}".rstrip("_").replace(" ", "_")
