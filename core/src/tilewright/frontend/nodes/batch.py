"""Knows the dimension that exporters leave open for a batch, and that it is 1 where nobody says otherwise.
Does not know other dimensions without a number: those are asked for.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.errors import Diagnostic, Exit, TilewrightError, typed
from tilewright.frontend.reading.dims import declared_text, symbol_of
from tilewright.frontend.reading.file_model import FileValue
from tilewright.frontend.reading.names import show


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A symbol that is taken to be 1, and the first input that has it in front."""

    symbol: str
    value: FileValue

    @property
    def note(self) -> Diagnostic:
        """What the user should know."""
        return Diagnostic(
            code="TW1229",
            severity="note",
            message=f"{show(self.symbol)}, the first dimension of the inputs, has no number in the file: it is 1",
            where=f"input {show(self.value.name)} {declared_text(self.value)}",
            details=(self._otherwise,),
            fix=(typed("--dim", f"{self.symbol}=1", gives="says so: then there is no note"),),
        )

    def named_in(self, error: TilewrightError) -> TilewrightError:
        """An error about the model, which may come from that 1, with a line about it."""
        if error.exit_code is not Exit.MODEL:
            return error
        taken = f"{show(self.symbol)}, the first dimension of the inputs, is taken to be 1: {self._otherwise}"
        return replace(error, details=(*error.details, taken))

    @property
    def _otherwise(self) -> str:
        return f"{shlex.join(['--dim', f'{self.symbol}=4'])} makes it 4, for instance"


def assumed_batch(inputs: Sequence[FileValue], dims: Mapping[str, int]) -> Batch | None:
    """The batch of a network, unless `dims` has a number for it: the one symbol that the inputs without a number in
    front have there. None where they have several, or an input has that symbol on two axes, as no batch is.
    """
    open_ones = {symbol_of(one, 0): one for one in reversed(inputs) if one.dims and not isinstance(one.dims[0], int)}
    if len(open_ones) != 1:
        return None
    ((symbol, value),) = open_ones.items()
    twice = any(_symbols(one).count(symbol) > 1 for one in inputs)
    return None if twice or symbol in dims else Batch(symbol=symbol, value=value)


def _symbols(value: FileValue) -> list[str]:
    return [symbol_of(value, axis) for axis, dim in enumerate(value.dims or ()) if not isinstance(dim, int)]
