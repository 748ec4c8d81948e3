"""Knows how files are written: into a temporary folder beside the goal, renamed when everything is there.
Does not know what is in them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tilewright.errors import TilewrightError, usage_error


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` below `folder`, all or nothing; files of other names that are there stay.

    Raises TilewrightError TW1107 (exit 2) when the folder cannot be written.
    """
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".tilewright-", dir=folder))
        try:
            for name, content in files.items():
                target = staging / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            for name in files:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(staging / name, folder / name)
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def write_file(file: Path, content: bytes) -> None:
    """Write one file, all or nothing."""
    write_folder(file.parent, {file.name: content})


def demand_writable(folder: Path) -> None:
    """Fail early, before any work, when `folder` cannot be written."""
    with _explained(folder):
        nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not nearest.is_dir():
            raise NotADirectoryError(20, "is a file, not a folder", str(nearest))
        with tempfile.TemporaryDirectory(prefix=".tilewright-", dir=nearest):
            pass


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _unwritable(folder, error) from None


def _unwritable(folder: Path, error: OSError) -> TilewrightError:
    return usage_error(
        "TW1107",
        "cannot write the output folder",
        where=str(folder),
        details=(error.strerror or str(error),),
        fix=("choose another folder with -o, or make this one writable",),
    )
