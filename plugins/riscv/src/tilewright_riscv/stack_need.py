"""Knows how much stack compiled code needs, from what gcc writes of frames and calls (`-fcallgraph-info=su`).
Does not know what the code does, nor where stacks are; code in other languages than C takes nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tilewright.api import align_up, usage_error
from tilewright.api.platform import Platform
from tilewright_riscv.stacks import PROGRAM_BYTES, Stacks

WRITTEN = "-fcallgraph-info=su"  # flag: FILE.ci beside each object file
_MAIN = 'node: { title: "main" label: "main\\n'
_FRAME = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes')
_CALL = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


def deepest_bytes(graphs: Iterable[str]) -> int:
    """Of the chain of calls that needs most, in all files together."""
    frames: dict[str, int] = {}
    calls: dict[str, list[str]] = {}
    for text in graphs:
        frames |= {name: int(size) for name, size in _FRAME.findall(text)}
        for caller, called in _CALL.findall(text):
            calls.setdefault(caller, []).append(called)
    known: dict[str, int] = {}
    return max((_depth(name, frames, calls, known) for name in frames), default=0)


def _depth(name: str, frames: Mapping[str, int], calls: Mapping[str, list[str]], known: dict[str, int]) -> int:
    """Below a function, its frame included; a recursion counts once. `known` is filled."""
    if name not in known:
        known[name] = 0
        below = max((_depth(called, frames, calls, known) for called in calls.get(name, ())), default=0)
        known[name] = frames.get(name, 0) + below
    return known[name]


def demand_stack(stacks: Stacks, platform: Platform, folder: Path, objects: Iterable[str]) -> None:
    """TilewrightError TW5063 (exit 2) where code in `folder`, compiled with `WRITTEN`, needs more than is planned. The
    file with `main` is left out: a core outside the team runs it, or one that computes nothing.
    """
    files = [folder / f"{object_file.removesuffix('.o')}.ci" for object_file in objects]
    texts = [file.read_text(encoding="utf-8") for file in files if file.exists()]
    needed = deepest_bytes(text for text in texts if _MAIN not in text)
    there, least = stacks.one_bytes(platform), needed + PROGRAM_BYTES // 2
    if least > there:
        raise usage_error(
            "TW5063",
            "the compiled program needs larger stacks than the plan has",
            details=(
                f"its deepest chain of calls takes {needed} B, the program {PROGRAM_BYTES // 2} B; each core's stack "
                f"has {there} B",
            ),
            fix=(f"--set stack={align_up(needed + PROGRAM_BYTES, 16)}",),
        )
