"""Knows which of the small C functions beside it a kernel's text must hold: those it calls and those that they call.
Does not know what the functions compute.

A file of functions has one blank line between functions and none inside. Each function is guarded, because
several kernels of one program bring the same one.
"""

from __future__ import annotations

import re
from functools import cache

from tilewright.operators.c_source import c_source

_DEFINITION = re.compile(r"^TW_KERNEL [\w ]*?(tw_\w+)\(", re.MULTILINE)
_USE = re.compile(r"\btw_\w+(?=\()")


@cache
def c_functions(text: str, *files: str) -> str:
    """Definitions, in the order of `files`, of every function there that `text` calls, directly or not."""
    blocks = {name: block for file in files for name, block in _blocks(file)}
    needed: set[str] = set()
    waiting = [text]
    while waiting:
        found = {name for name in _USE.findall(waiting.pop()) if name in blocks} - needed
        needed |= found
        waiting += [blocks[name] for name in found]
    return "".join(_guarded(name, block) for name, block in blocks.items() if name in needed)


def _blocks(file: str) -> list[tuple[str, str]]:
    parts = [part.strip("\n") for part in c_source(file).split("\n\n")]
    return [(match.group(1), part) for part in parts if (match := _DEFINITION.search(part))]


def _guarded(name: str, block: str) -> str:
    return f"#ifndef {name.upper()}\n#define {name.upper()}\n{block}\n#endif\n"
