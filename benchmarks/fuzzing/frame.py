"""The frame of all that is drawn: seeds, folders, what is said of cases, sums, and how many are wrong."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tilewright.config.memory_pools import parse_bytes
from tilewright.config.options import Options


class Outcome(NamedTuple):
    """Of one case: how it ended, what is wrong with that, a note, and what is summed of it in a row of the table."""

    case: str
    ended: str
    wrong: str = ""
    note: str = ""
    row: str = ""
    sums: Mapping[str, int] = {}


def no_flags(_: argparse.ArgumentParser) -> None:
    """Takes none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuzz:
    """What is drawn: how it is described, the flags that it takes, and what became of the cases of some seeds."""

    about: str
    outcomes: Callable[[Sequence[int], argparse.Namespace, Path], Iterator[Outcome]]
    flags: Callable[[argparse.ArgumentParser], None] = no_flags
    batch: int = 1  # seeds at once


@dataclass(slots=True)
class _Tally:
    """What was seen so far."""

    ended: Counter[str] = field(default_factory=Counter)
    wrong: int = 0
    table: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        """Counted and summed, and said where something is wrong."""
        self.ended[outcome.ended] += 1
        if outcome.sums:
            self.table.setdefault(outcome.row, Counter()).update({"cases": 1, **outcome.sums})
        if outcome.wrong:
            self.wrong += 1
            print(f"{outcome.case}: {outcome.ended}: {outcome.wrong}", flush=True)
        elif outcome.note:
            print(f"{outcome.case}: {outcome.note}", flush=True)

    def tell(self) -> None:
        """The table, where there is one, and how cases ended."""
        columns = list(dict.fromkeys(name for sums in self.table.values() for name in sums))
        if columns:
            print(f"| | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
        for row, sums in self.table.items():
            print(f"| {row} | {' | '.join(f'{sums[name]:,}' for name in columns)} |")
        print(dict(self.ended.most_common()))


def run(fuzz: Fuzz, arguments: argparse.Namespace) -> int:
    """The number of cases that are wrong."""
    warnings.simplefilter("ignore")
    first, end = map(int, arguments.seeds.split(":"))
    tally = _Tally()
    for start in range(first, end, fuzz.batch):
        with tempfile.TemporaryDirectory() as folder:
            before = tally.wrong
            for outcome in fuzz.outcomes(range(start, min(start + fuzz.batch, end)), arguments, Path(folder)):
                tally.add(outcome)
            if arguments.keep and tally.wrong > before:
                shutil.copytree(folder, arguments.keep / f"{arguments.what}_{start}", dirs_exist_ok=True)
    tally.tell()
    return tally.wrong


def machine_flags(parser: argparse.ArgumentParser, target: str) -> None:
    """A target, sizes of its memories, and its settings."""
    parser.add_argument("--target", default=target)
    parser.add_argument("--memory", action="append", default=[], metavar="NAME=SIZE")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")


def optimize_flag(parser: argparse.ArgumentParser, default: str = Options().optimize) -> None:
    """What plans are to be good at."""
    parser.add_argument("--optimize", default=default, choices=("speed", "balanced", "ram"))


def machine_options(arguments: argparse.Namespace) -> Options:
    """What `machine_flags` took."""
    sizes = {name: parse_bytes(size) for name, size in (text.split("=", 1) for text in arguments.memory)}
    return Options(memory=sizes, settings=dict(text.split("=", 1) for text in arguments.settings))
