"""Knows what a lowering may add beside its node: constants, and notes for the user.
Does not know any operator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Node
from tilewright.rewrite.edit import Draft
from tilewright.rewrite.qdq.weights import Bias


@dataclass(slots=True, kw_only=True)
class Work:
    """The edits and the notes of one run of the pass, collected while it goes over the islands."""

    draft: Draft
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def bias(self, main: Node, name: str, bias: Bias) -> str:
        """A constant that holds `bias`; a note where it had to be rounded."""
        if bias.moved:
            self.diagnostics.append(
                Diagnostic(
                    code="TW3003",
                    severity="note",
                    message=f"the bias was rounded to int32; results move by at most {bias.moved:.1e} of a step",
                    where=main.name,
                )
            )
        return self.draft.constant(bias.array, f"{name}_int32")
