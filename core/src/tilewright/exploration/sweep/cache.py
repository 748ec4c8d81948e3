"""Knows rows that were worked out before, on disk, by the content of all that they depend on: the network, the flags,
the files that these name, and the versions of the installed packages. Does not know how a row is worked out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from tilewright import __version__
from tilewright.errors import TilewrightError
from tilewright.exploration.sweep.points import Point
from tilewright.frontend.reading.model_digest import model_digest
from tilewright.plugins import discover
from tilewright.snapshot.atomic_folder import write_file

_FORM = 1  # of a row: another number makes all that was kept unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """A folder with a file for each row. What cannot be read there is worked out again."""

    folder: Path
    versions: Mapping[str, str]  # package -> version

    def found(self, point: Point) -> str | None:
        """The row of a point, as JSON; None where nobody knows it."""
        with suppress(OSError, ValueError):
            text = self._file(point).read_text(encoding="utf-8")
            json.loads(text)
            return text
        return None

    def keep(self, point: Point, row: str) -> None:
        """Not of a point that failed by a bug. TilewrightError TW1107 (exit 2) where the folder is not writable."""
        if json.loads(row)["code"] == "TW9001":
            return
        file = self._file(point)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, row.encode())

    def _file(self, point: Point) -> Path:
        known = [_FORM, dict(self.versions), _digest(point.model), point.target, dict(point.flags)]
        text = json.dumps([*known, [_digest(file) for file in named_files(point.flags)]], sort_keys=True)
        name = sha256(text.encode()).hexdigest()
        return self.folder / name[:2] / f"{name}.json"


def installed_versions() -> dict[str, str]:
    """The core and every package that offers something to it -> version, as this process has them."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """Looked for once: every point that comes to a worker asks for them."""
    return ("tilewright", __version__), *((package.name, package.version) for package in discover().packages)


def named_files(value: Any) -> Iterator[Path]:
    """Files that flags name: boards, decisions, arrays."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from named_files(item)
    elif isinstance(value, str):
        for text in {value, value.rpartition("=")[2]}:
            with suppress(OSError, ValueError):
                if text and Path(text).is_file():
                    yield Path(text)


def _digest(file: Path) -> str:
    """Of a file's content; "" where it cannot be read."""
    try:
        stat = file.stat()
        return _digest_of(file, stat.st_mtime_ns, stat.st_size)
    except (OSError, TilewrightError):
        return ""


@lru_cache(maxsize=256)
def _digest_of(file: Path, _changed: int, _size: int) -> str:
    return model_digest(file)
