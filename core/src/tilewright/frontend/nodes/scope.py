"""Knows which values a body of the file sees: its own, and those of the bodies around it. Does not know nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.refusals import InvalidNode


@dataclass(slots=True, kw_only=True)
class Scope:
    """Values of one body: the file's name -> the graph's, or None where their node was refused."""

    outer: Scope | None = None
    prefix: str = ""  # of names of this body in the graph; "" is the main graph
    values: dict[str, str | None] = field(default_factory=dict)

    @property
    def main(self) -> bool:
        """Whether this is the model's own graph, whose names are kept."""
        return not self.prefix

    def has(self, name: str) -> bool:
        """Whether the body or one around it has the value."""
        return name in self.values or (self.outer is not None and self.outer.has(name))

    def find(self, name: str) -> str | None:
        """The graph's name of a value that is there."""
        if name in self.values or self.outer is None:
            return self.values[name]
        return self.outer.find(name)

    def results(self, names: Iterable[str]) -> list[str | None]:
        """What the outputs of the body are. Raises InvalidNode for one that is never written."""
        for name in names:
            if not self.has(name):
                raise InvalidNode(f"the body never writes its output {show(name)}")
        return [self.find(name) for name in names]
