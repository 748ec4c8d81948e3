"""Knows how commands declare flags: each takes one value, unless it is a list, and never an empty one; which names a
shell completes; and how examples stand in a help. Does not know any flag or command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from tilewright.errors import TilewrightError, typed, usage_error

Command = TypeVar("Command", bound=Callable[..., Any])
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def option(*names: str, **settings: Any) -> Callable[[Command], Command]:
    """`click.option`, of this house: what every command declares its flags with."""
    return click.option(*names, cls=Flag, **settings)


def names_option(*names: str, **settings: Any) -> Callable[[Command], Command]:
    """The same for a list: names with commas between them, or one flag for each."""
    return click.option(*names, cls=NamesFlag, **settings)


class FiniteRange(click.FloatRange):
    """A number in a range, of which `nan` and `inf` are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """What was typed. click.BadParameter where it is no such number."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


class Flag(click.Option):
    """A flag that is refused where click would take the last of several values, or an empty one for the folder that
    a command is called in. TilewrightError TW1101 (exit 2).
    """

    @property
    def takes_one(self) -> bool:
        """Whether it has a value, and is no list."""
        return not (self.is_flag or self.count or self.multiple)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """So that the parser keeps all values of a flag that takes one."""
        if not self.takes_one:
            return super().add_to_parser(parser, ctx)
        return parser.add_option(obj=self, opts=self.opts, dest=self.name, action="append", nargs=self.nargs)  # type: ignore[no-any-return]

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """The value of this flag among what was typed, or its default."""
        values = opts.get(self.name or "")
        if self.is_flag or self.count or values is None:
            return super().consume_value(ctx, opts)
        if "" in values and not ctx.resilient_parsing:
            raise self._refused_empty(ctx)
        if self.multiple:
            return super().consume_value(ctx, opts)
        merged: dict[str, Any] = {**opts, self.name or "": self._one_of(values, ctx)}
        return super().consume_value(ctx, merged)

    def _one_of(self, values: list[str], context: click.Context) -> str:
        """The value that those which were typed are together."""
        if len(set(values)) > 1 and not context.resilient_parsing:
            raise self._refused_twice(context, values)
        return values[-1]

    @property
    def _spelled(self) -> str:
        return max(self.opts, key=len)

    def _refused_empty(self, context: click.Context) -> TilewrightError:
        return usage_error(
            "TW1101",
            f"'{self._spelled}' is given an empty value",
            where=context.command_path,
            details=("a variable of the shell that is not set gives one: what it should be is not guessed",),
            fix=(f"write it as {self._spelled} {self.make_metavar(context)}, or leave it out",),
        )

    def _refused_twice(self, context: click.Context, values: list[str]) -> TilewrightError:
        *before, last = (f"'{value}'" for value in values)
        return usage_error(
            "TW1101",
            f"'{self._spelled}' is given {'twice' if len(values) == 2 else f'{len(values)} times'}, as "
            f"{', '.join(before)} and as {last}",
            where=context.command_path,
            details=("it takes one value",),
            fix=(typed(self._spelled, values[-1], gives="alone: leave the others out"),),
        )


class NamesFlag(Flag):
    """A list with commas. What is given several times is one list."""

    def _one_of(self, values: list[str], context: click.Context) -> str:
        return ",".join(values)


def offered(kind: str, *more: str) -> Completer:
    """Completes names of that kind (`platform`, `allocator`, `tiler`, `runner`) that installed packages announce, with
    the package of each, and `more`. Imports none of them.
    """

    def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from tilewright.plugins.catalogue import discover

        packages = {
            offer.name: package.name
            for package in discover().packages
            for offer in package.offers
            if offer.kind == kind
        }
        return [
            CompletionItem(name, help=packages.get(name))
            for name in sorted({*packages, *more})
            if name.startswith(incomplete)
        ]

    return complete


def examples(*lines: str) -> str:
    """An epilog for click, which breaks no line of it. Each line is what is typed after `tilewright`."""
    return "\n".join(("\b", "Examples:", *(f"  tilewright {line}" for line in lines)))
