"""Knows which names look like a mistyped one. Does not know what any of them stands for."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """A line naming the most similar of `names`, or nothing when none is similar."""
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(set(names)), n=1, cutoff=0.6)
    return tuple(f"did you mean '{match}'?" for match in close)
