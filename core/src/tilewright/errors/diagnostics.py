"""Knows how tilewright says no: a code, a place, a reason and the next thing to type.
Does not know what any code means at length; that is `catalogue`."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Any, Literal

COLUMNS = 120  # of the widest line that is not a place or a command


class Exit(IntEnum):
    """Process exit codes: stable, documented in `docs/errors.md`, tested."""

    OK = 0
    INTERNAL = 1
    USAGE = 2
    MODEL = 3
    UNSUPPORTED = 4
    DOES_NOT_FIT = 5
    MISMATCH = 6
    TOOLCHAIN = 7
    PLUGIN = 8
    GATE = 9
    TIME_LIMIT = 10
    INTERRUPTED = 130


def typed(*words: str, gives: str = "") -> str:
    """A next step that is typed: words as a shell wants them, and behind a gap what they give.

    Begins with `tilewright`, or with a flag for the command that has failed. A test types every one of them.
    """
    return shlex.join(words) + (f"     {gives}" if gives else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One thing worth saying to the user, as data: `severity[code]: message`, then its details."""

    code: str
    message: str
    severity: Literal["error", "warning", "note"] = "error"
    where: str = ""  # node, tensor, plugin or file, by the name its author gave it
    details: tuple[str, ...] = ()  # further lines: candidates, refusals, live buffers
    fix: tuple[str, ...] = ()  # what to type or change next

    def render(self) -> str:
        """The text for a terminal, at most a few lines, ending with what to try."""
        lines = _wrapped(f"{self.severity}[{self.code}]: {self.message}")
        if self.where:
            lines.append(f"  at    {self.where}")
        lines.extend(part for detail in self.details for line in detail.split("\n") for part in _wrapped(f"  {line}"))
        lines.extend(f"  try:  {step}" for step in self.fix)
        return "\n".join(_printable(line) for line in lines)


def _wrapped(line: str) -> list[str]:
    """`line` in pieces that fit on a screen. Places and commands are not cut: they are there to be copied."""
    if len(line) <= COLUMNS:
        return [line]
    words = line.lstrip(" ")
    return textwrap.wrap(
        words,
        COLUMNS,
        initial_indent=line.removesuffix(words),  # not part of the text, where wrap may drop it
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _printable(line: str) -> str:
    """`line` with what a terminal would obey or hide written as escapes: names come from files of strangers."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a candidate (a kernel, an engine, a pass) said no to a node. A value, not an exception."""

    candidate: str
    reason: str
    code: str = "TW2002"


@dataclass(slots=True)
class TilewrightError(Exception):
    """The user's problem, with everything needed to solve it. Shown without a traceback."""

    code: str
    message: str
    where: str = ""
    details: tuple[str, ...] = ()
    fix: tuple[str, ...] = ()
    exit_code: Exit = field(default=Exit.USAGE)
    subject: str = ""  # the step or node it is about, by its name in the graph: for who may know another way
    needs: tuple[str, int] | None = None  # a memory, and the least size of it that the subject can do with
    others: tuple[TilewrightError, ...] = ()  # the same about other subjects: for who may know another way, not shown

    def __str__(self) -> str:
        return self.diagnostic().render()

    def __reduce__(self) -> tuple[type[TilewrightError], tuple[Any, ...]]:
        """So that it crosses processes whole, whoever pickles exceptions there."""
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    def diagnostic(self) -> Diagnostic:
        """The same, as a value that a report can hold."""
        return Diagnostic(
            code=self.code,
            message=self.message,
            where=self.where,
            details=self.details,
            fix=self.fix,
        )


def demand_no_warnings(diagnostics: Iterable[Diagnostic], *, shown: bool) -> None:
    """TilewrightError TW1108 (exit 2) where there is a warning: what `strict` asks for. Warnings that the user was not
    `shown` before are its details.
    """
    warnings = [item for item in diagnostics if item.severity == "warning"]
    if warnings:
        details = () if shown else tuple(item.render() for item in warnings)
        message = f"{len(warnings)} warning(s), and --strict was given"
        fix = ("solve them, or leave --strict out",)
        raise TilewrightError("TW1108", message, details=details, fix=fix, exit_code=Exit.USAGE)


def amended(error: TilewrightError, **fields: Any) -> TilewrightError:
    """The same error with some fields changed. Raised again, its traceback still ends where it was raised first."""
    changed = replace(error, **fields)
    changed.__cause__, changed.__suppress_context__ = error.__cause__, error.__suppress_context__
    return changed.with_traceback(error.__traceback__)


def with_fix(error: TilewrightError, fix: tuple[str, ...]) -> TilewrightError:
    """The same error with other next steps, where there are any."""
    return amended(error, fix=fix or error.fix)


def _of(exit_code: Exit, when: str) -> Callable[..., TilewrightError]:
    def make(
        code: str,
        message: str,
        *,
        where: str = "",
        details: tuple[str, ...] = (),
        fix: tuple[str, ...] = (),
    ) -> TilewrightError:
        return TilewrightError(code, message, where, details, fix, exit_code)

    make.__doc__ = f"An error to raise: {when} (exit {exit_code.value})."
    return make


usage_error = _of(Exit.USAGE, "the command line, an option or the configuration is wrong")
model_error = _of(Exit.MODEL, "the model cannot be read, or is no valid ONNX")
unsupported_error = _of(Exit.UNSUPPORTED, "the model is valid, but this target cannot run it")
memory_error = _of(Exit.DOES_NOT_FIT, "the network does not fit")
toolchain_error = _of(Exit.TOOLCHAIN, "a compiler, simulator or board is missing or failed")
plugin_error = _of(Exit.PLUGIN, "a plugin is missing, broken or incompatible")
