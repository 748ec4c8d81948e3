"""Knows how a new package is written for a user, into a folder of its own, and what to type next.
Does not know what is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tilewright.cli.output import say
from tilewright.errors import typed, usage_error
from tilewright.snapshot.atomic_folder import write_folder


def write_package(folder: Path, files: Mapping[str, bytes], *, tests: str, then: str) -> None:
    """Write the files and say what was written. `tests` and `then` are what is typed after it is installed.

    TilewrightError (exit 2): TW8016 where the folder has something already, TW1107 where it cannot be written.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise usage_error(
            "TW8016",
            f"'{folder}' is there already, and nothing of it is written over",
            fix=(typed("-o", f"{folder}-2", gives="writes it beside"), "remove the folder, where nobody needs it"),
        )
    write_folder(folder, files)
    width = max(map(len, files))
    for path in sorted(files):
        say(f"  {path:{width}}  {len(files[path].decode().splitlines()):4} lines")
    say(f"{folder}: {len(files)} files. Next:")
    for line in (f"cd {folder}", 'pip install -e ".[test]"', tests, "ruff check && ruff format --check", then):
        say(f"  {line}")
