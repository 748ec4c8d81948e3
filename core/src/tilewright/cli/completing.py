"""Knows what a shell may complete: names that installed packages announce, without importing one of them.
Does not know the flags.
"""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def offered(kind: str, *more: str) -> Completer:
    """Names of that kind (`platform`, `allocator`, `tiler`, `runner`), and `more`, with the package of each."""

    def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from tilewright.plugins.catalogue import discover

        found = {
            offer.name: package.name
            for package in discover().packages
            for offer in package.offers
            if offer.kind == kind
        }
        return [
            CompletionItem(name, help=found.get(name))
            for name in sorted({*found, *more})
            if name.startswith(incomplete)
        ]

    return complete
