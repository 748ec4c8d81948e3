"""Knows which files a run wrote into a folder, so that the next run removes those that it does not write again, and
writes over no others. Does not know what is in them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tilewright.errors import Diagnostic, usage_error
from tilewright.snapshot.atomic_folder import write_folder

MANIFEST = "tilewright-manifest.json"
SCHEMA = "https://tilewright.dev/schema/manifest-1.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftovers:
    """What the run before has left: `stale` files are as it wrote them, and are not written now."""

    stale: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def leftovers(folder: Path, files: Mapping[str, bytes]) -> Leftovers:
    """What to remove when these files are written. Files that were changed since stay, with a warning TW1121; so does
    everything where the manifest cannot be read.

    Raises TilewrightError TW1125 (exit 2) where a file of such a name is there that no run before wrote.
    """
    try:
        written = _read(folder / MANIFEST)
    except FileNotFoundError:
        written = {}
    except (OSError, ValueError) as error:
        message = "what the run before wrote cannot be told: nothing of it is removed"
        return Leftovers(diagnostics=(_warning(message, folder / MANIFEST, str(error)),))
    _demand_ours(folder, files, written)
    old = {name: digest for name, digest in written.items() if name not in files and _is_inside(folder, name)}
    same = {name for name, digest in old.items() if _digest((folder / name).read_bytes()) == digest}
    message = "a file of the run before was changed since: it stays, and is not written now"
    changed = tuple(_warning(message, folder / name) for name in sorted(old.keys() - same))
    return Leftovers(stale=tuple(sorted(same)), diagnostics=changed)


def _demand_ours(folder: Path, files: Mapping[str, bytes], before: Collection[str]) -> None:
    """What is there under a name that is to be written is of the run before, or the same."""
    foreign = [
        name
        for name, content in files.items()
        if name not in before and (folder / name).is_file() and (folder / name).read_bytes() != content
    ]
    if foreign:
        raise usage_error(
            "TW1125",
            f"would write over {len(foreign)} file(s) that tilewright did not write: nothing is written",
            where=str(folder),
            details=tuple(sorted(foreign)),
            fix=("name a folder of its own for the generated files with -o", "or move these files away"),
        )


def write_files(folder: Path, files: Mapping[str, bytes], stale: Collection[str]) -> None:
    """Write `files` and the manifest that names them, then remove what is stale, and folders that are empty then.

    Raises TilewrightError TW1107 (exit 2) when the folder cannot be written.
    """
    write_folder(folder, {**files, MANIFEST: _manifest(files)})
    for name in stale:
        (folder / name).unlink(missing_ok=True)
    for parent in sorted({parent for name in stale for parent in _parents(folder, name)}, reverse=True):
        if not any(parent.iterdir()):
            parent.rmdir()


def _manifest(files: Mapping[str, bytes]) -> bytes:
    written = {name: _digest(content) for name, content in sorted(files.items())}
    return (json.dumps({"schema": SCHEMA, "files": written}, indent=2) + "\n").encode("ascii")


def _read(file: Path) -> Mapping[str, str]:
    """Name -> SHA-256. OSError and ValueError for what is no manifest."""
    data = json.loads(file.read_text(encoding="ascii"))
    digests = data.get("files") if isinstance(data, dict) and data.get("schema") == SCHEMA else None
    if not isinstance(digests, dict) or not all(isinstance(digest, str) for digest in digests.values()):
        raise ValueError("it is no manifest of tilewright")
    return digests


def _is_inside(folder: Path, name: str) -> bool:
    """Whether a manifest's name is that of a file below the folder, through no link that leads out of it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or str(path) != name:
        return False
    file = folder / name
    return file.is_file() and not file.is_symlink() and file.resolve().is_relative_to(folder.resolve())


def _parents(folder: Path, name: str) -> Iterator[Path]:
    """The folders between a file and `folder`."""
    return (folder / parent for parent in PurePosixPath(name).parents if parent != PurePosixPath())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _warning(message: str, file: Path, *details: str) -> Diagnostic:
    fix = "remove it, if you do not need it any more"
    return Diagnostic(code="TW1121", severity="warning", message=message, where=str(file), details=details, fix=(fix,))
