"""Knows what the counting plugin is told and what it answers: regions in, visits of regions out.
Does not know how the program was built or started.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tilewright.api import toolchain_error
from tilewright.api.runner import ElfSymbol

EXTRAS = ("taken", "paired", "words", "overlapped", "fetches")  # of the counts: no instructions
OUTSIDE, BETWEEN = -1, 0  # regions of the harness, and of the network's functions; step n is region n + 1
CLONE = re.compile(r"\.(isra|constprop|part|cold|lto_priv)\b.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Executed instructions of one inference: in all, of every step, and of what is between the steps, by class."""

    total: Mapping[str, int]
    steps: tuple[Mapping[str, int], ...]


def step_functions(source: bytes) -> tuple[str, ...]:
    """The names of the step functions in a generated source, in the order of the steps."""
    return tuple(name.decode() for name in re.findall(rb"^TW_STEP void (\w+)\(", source, re.MULTILINE))


def region_lines(symbols: Sequence[ElfSymbol], prefix: str, functions: Sequence[str]) -> str:
    """The plugin's regions: the harness, the functions of a run, and the steps by their symbols, clones included."""
    ids = {f"{prefix}_{name}": BETWEEN for name in ("run", "start", "go_on")}
    ids |= {name: index + 1 for index, name in enumerate(functions)}
    lines = [
        f"{symbol.address:x} {symbol.address + max(symbol.size_bytes, 2):x} {ids[name]}\n"
        for symbol in symbols
        if symbol.is_function and (name := CLONE.sub("", symbol.name)) in ids
    ]
    at = {symbol.name: symbol.address for symbol in symbols}
    lines.append(f"{at['board_harness_start']:x} {at['board_harness_end']:x} {OUTSIDE}\n")
    return "".join(lines)


def first_counted(text: str, steps: int, functions: int) -> Counts:
    """What the plugin's file says of the first inference that no hook cuts.

    The harness runs one with hooks before, whose visits are cut at the beginning and the end of every step.
    `functions` of the `steps` have code of their own; hooks are called for all of them.
    TilewrightError TW7010 (exit 7) when the steps executed are not those of the plan.
    """
    header, *lines = text.splitlines()
    classes = header.split()[1:]
    runs = list(_runs([tuple(map(int, line.split())) for line in lines]))
    whole = runs[1 + 2 * steps] if len(runs) > 1 + 2 * steps else []
    executed = [visit[1:] for visit in whole if visit[0] != BETWEEN]
    if not whole or len(executed) != functions:
        raise toolchain_error("TW7010", f"the counted run has {len(executed)} steps, the plan {functions}")
    total = [sum(column) for column in zip(*(visit[1:] for visit in whole), strict=True)]
    return Counts(
        total=dict(zip(classes, total, strict=True)),
        steps=tuple(dict(zip(classes, visit, strict=True)) for visit in executed),
    )


def _runs(visits: Sequence[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Visits between two stays in the harness."""
    for inside, group in groupby(visits, key=lambda visit: visit[0] != OUTSIDE):
        if inside:
            yield list(group)
