"""Knows what is left of a step whose engine is waited for behind a later step, whose function ends with that.
Does not know what it does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.ir.programs.program import Part, StepCode
from tilewright.lower.operands.addresses import AddressBook
from tilewright.lower.operands.scope import used
from tilewright.lower.tiles.parts import call_part


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A function, and those that it calls."""

    part: Part
    parts: tuple[Part, ...]

    def behind(self, code: StepCode, book: AddressBook) -> StepCode:
        """A later step, and then the end of this one."""
        call = call_part(self.part, {})
        bases = {parameter.name: parameter for parameter in (*code.parameters, *used(book.bases, (call,)))}
        return replace(
            code,
            body=(*code.body, call),
            parts=(*code.parts, *self.parts, self.part),
            parameters=tuple(bases[name] for name in sorted(bases)),
        )
