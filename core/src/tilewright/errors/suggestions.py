"""Knows which names look like a mistyped one. Does not know what any of them stands for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

_MANY_FILES = 10_000  # in a folder: among these the name that was meant is looked for


def did_you_mean(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """A line naming the most similar of `names`, or nothing when none is similar."""
    similar = nearest(name, sorted(set(names)))
    return () if similar is None else (f"did you mean '{similar}'?",)


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The same name written otherwise (`CortexM4`), the one that ends or goes on so (`m4`, `m0` of `cortex-m0plus`), or
    one with few letters changed; None where there is none.
    """
    from difflib import get_close_matches

    plain = [_plain(known) for known in names]
    wanted = _plain(name)
    if wanted in plain:
        return names[plain.index(wanted)]
    last = [_plain(re.split(r"[-_. ]", known)[-1]) for known in names]
    for matching in ([known == wanted for known in last], [known.startswith(wanted) for known in last]):
        if len(wanted) > 1 and sum(matching) == 1:
            return names[matching.index(True)]
    for written, candidates in ((name, list(names)), (wanted, plain)):
        if close := get_close_matches(written, candidates, n=1, cutoff=0.6):
            return names[candidates.index(close[0])]
    return None


def similar_file(path: Path) -> Path | None:
    """The file in the same folder whose name looks most like that of a file which is not there; None without one."""
    try:
        with os.scandir(path.parent) as entries:
            names = sorted(entry.name for entry in islice(entries, _MANY_FILES) if entry.is_file())
    except OSError:
        return None
    name = nearest(path.name, names)
    return None if name is None else path.with_name(name)


def _plain(name: str) -> str:
    """Without what is written in many ways: capitals, dashes, blanks."""
    return re.sub(r"[-_. ]", "", name).casefold()
