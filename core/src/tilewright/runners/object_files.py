"""Knows how to compile C files that are the same for every program once in a process: what a compiler made of them is
held in memory, and written where it is needed next. Does not know what the files do.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_Key = tuple[str | None, tuple[str, ...], tuple[tuple[str, str], ...]]
_COMPILED: dict[_Key, dict[str, bytes]] = {}  # few: a compiler and its options, and what the files say


def object_files(
    command: Sequence[str], texts: Mapping[str, str], folder: Path, run: Callable[[Sequence[str], Path], object]
) -> list[str]:
    """The names of the object files of those `texts` whose name ends with `.c`, in `folder`; both stand there then.

    `texts`: by name, with the headers that they include; what others they include is the system's. `command`: the
    compiler and its options. `run(command, folder)` raises what it raises where the command fails.
    """
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="ascii")
    sources = [name for name in texts if name.endswith(".c")]
    objects = [f"{name.removesuffix('.c')}.o" for name in sources]
    key = (shutil.which(command[0]), tuple(command), tuple(texts.items()))
    if key not in _COMPILED:
        here = f"-fdebug-prefix-map={folder.resolve()}=."  # the next folder is another one
        run([*command, here, "-c", *sources], folder)
        _COMPILED[key] = {name: (folder / name).read_bytes() for name in objects}
    for name, content in _COMPILED[key].items():
        (folder / name).write_bytes(content)
    return objects
