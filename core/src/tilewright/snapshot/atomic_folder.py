"""Knows how files are written: into a temporary folder beside the goal, renamed when everything is there.
Does not know what is in them.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tilewright.errors import TilewrightError, usage_error

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` below `folder`. A new folder appears in one piece or not at all; in one that is there every file
    is replaced whole, and files of other names stay.

    Raises TilewrightError TW1107 (exit 2) when the folder cannot be written.
    """
    with _explained(folder):
        parent = _existing_folder(folder)
        temporary = Path(tempfile.mkdtemp(prefix=".tilewright-", dir=parent))
        try:
            fresh = temporary / "files"
            fresh.mkdir()
            for name, content in files.items():
                (fresh / name).parent.mkdir(parents=True, exist_ok=True)
                (fresh / name).write_bytes(content)
            if parent == folder:
                _replace_files(fresh, folder, files)
            else:
                folder.parent.mkdir(parents=True, exist_ok=True)
                os.rename(fresh, folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _replace_files(fresh: Path, folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(fresh / name, folder / name)


def write_file(file: Path, content: bytes) -> None:
    """Write one file, all or nothing."""
    write_folder(file.parent, {file.name: content})


def demand_writable(folder: Path) -> None:
    """Fail early, before any work, when `folder` cannot be written."""
    with _explained(folder), tempfile.TemporaryDirectory(prefix=".tilewright-", dir=_existing_folder(folder)):
        pass


def demand_writable_file(file: Path) -> None:
    """The same for one file."""
    demand_writable(file.parent)
    if file.is_dir():
        raise unwritable(str(file), IsADirectoryError(21, "it is a folder, not a file"))


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards. TilewrightError TW1107 (exit 2) when there is no place for it, or no room."""
    try:
        temporary = tempfile.TemporaryDirectory(prefix="tilewright-")
    except OSError as error:
        raise unwritable("the folder for temporary files", error) from None
    with temporary as name:
        try:
            yield Path(name)
        except OSError as error:
            if error.errno not in _DISK_FULL:
                raise
            raise unwritable(str(Path(name).parent), error) from None


def _existing_folder(folder: Path) -> Path:
    """`folder` or the nearest folder above it that is there. NotADirectoryError when that is a file."""
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise NotADirectoryError(20, f"{nearest} is a file, not a folder")
    return nearest


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unwritable(str(folder), error) from None


def unwritable(place: str, error: OSError) -> TilewrightError:
    """TW1107 (exit 2) for what the system says of a place."""
    return usage_error(
        "TW1107",
        "cannot write there",
        where=place,
        details=(error.strerror or str(error),),
        fix=("choose another place, or make this one writable (TMPDIR names the folder for temporary files)",),
    )
