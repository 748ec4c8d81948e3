"""Knows which bytes outside the model file a tensor may take, and reads them: one regular file beside the model.
Does not know tensors. None of this is left to onnx, whose own rules were bypassed more than once.

A location is a relative path without `..`; no component is a symbolic link; the file is regular, has one name
(no hard links), and lies inside the model's folder; offset and length are within the file.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from tilewright.errors import TilewrightError, model_error, typed
from tilewright.frontend.names import show
from tilewright.ir.dataclass import dataclass

_KNOWN_KEYS = frozenset({"location", "offset", "length", "checksum"})
_DIGITS = 19  # of a 63-bit number


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalFiles:
    """Where external data may come from. `folder` None: the model is bytes without a place."""

    folder: Path | None
    allowed: bool

    def read(self, entries: tuple[tuple[str, str], ...], size_bytes: int, where: str) -> bytes:
        """The `size_bytes` bytes that `entries` describe. Raises TW1210, or TW1211 for a wrong length."""
        if not self.allowed:
            raise model_error(
                "TW1210",
                "the elements of a tensor are in another file, and reading other files is off",
                where=where,
                fix=(typed("--allow-external", gives="if you trust the model and the files beside it"),),
            )
        if self.folder is None:
            raise _refused("the model has no folder: it was given as bytes", where)
        fields = _fields(entries, where)
        path = _safe_path(self.folder, fields.get("location", ""), where)
        offset, length = _number(fields, "offset", where) or 0, _number(fields, "length", where)
        data = _read(path, offset, length, size_bytes, where)
        if "checksum" in fields and fields["checksum"].lower() != _sha1(path):
            raise _refused(f"{show(path.name)} does not have the checksum that the model gives", where)
        return data


def location_of(entries: tuple[tuple[str, str], ...], folder: Path, where: str) -> Path:
    """The file in `folder` that `entries` name. Raises TW1210 where it is none that may be read."""
    return _safe_path(folder, _fields(entries, where).get("location", ""), where)


def _refused(reason: str, where: str) -> TilewrightError:
    return model_error(
        "TW1210",
        f"external data is refused: {reason}",
        where=where,
        fix=(
            "put the data file into the model's own folder as an ordinary file, and name it without a path",
            "or save the model with its weights inside (onnx.save(model, path))",
        ),
    )


def _fields(entries: tuple[tuple[str, str], ...], where: str) -> Mapping[str, str]:
    unknown = [key for key, _ in entries if key not in _KNOWN_KEYS]
    if unknown:
        raise _refused(f"unknown key {show(unknown[0])}", where)
    fields = dict(entries)
    if len(fields) != len(entries):
        raise _refused("a key is given twice", where)
    return fields


def _number(fields: Mapping[str, str], key: str, where: str) -> int | None:
    text = fields.get(key)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise _refused(f"{key} {show(text)} is not a number", where)
    return int(text)


def _safe_path(folder: Path, location: str, where: str) -> Path:
    parts = location.split("/")
    if not location or "\0" in location or "\\" in location or ":" in location:
        raise _refused(f"location {show(location)} is not a plain relative path", where)
    if any(part in ("", "..") for part in parts):
        raise _refused(f"location {show(location)} leads outside the model's folder", where)
    path = folder
    for part in parts:
        path = path / part
        try:
            status = path.lstat()
        except OSError as error:
            raise _refused(f"{show(location)}: {error.strerror or 'cannot be read'}", where) from error
        if stat.S_ISLNK(status.st_mode):
            raise _refused(f"{show(location)} goes through a symbolic link", where)
    if not path.resolve().is_relative_to(folder.resolve()):
        raise _refused(f"location {show(location)} leads outside the model's folder", where)
    if not stat.S_ISREG(path.lstat().st_mode):
        raise _refused(f"{show(location)} is not a regular file", where)
    return path


def _open(path: Path, where: str) -> int:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags)
    except OSError as error:
        raise _refused(f"{show(path.name)}: {error.strerror or 'cannot be read'}", where) from error


def _sha1(path: Path) -> str:
    """Digest of a whole file: what ONNX means by checksum. Against damage, not against attackers."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest()


def _read(path: Path, offset: int, length: int | None, size_bytes: int, where: str) -> bytes:
    with os.fdopen(_open(path, where), "rb") as file:
        status = os.fstat(file.fileno())  # of what was really opened
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise _refused(f"{show(path.name)} has a second name (hard link) or is not a regular file", where)
        count = status.st_size - offset if length is None else length
        if offset + count > status.st_size or count < 0:
            raise _refused(
                f"bytes {offset:,} to {offset + max(count, 0):,} are asked for, "
                f"but {show(path.name)} has {status.st_size:,}",
                where,
            )
        if count != size_bytes:
            raise model_error(
                "TW1211",
                f"external data has {count:,} bytes, but the tensor's type and dimensions need {size_bytes:,}",
                where=where,
                fix=("the data file belongs to another version of the model: export both again",),
            )
        file.seek(offset)
        data = file.read(count)
    if len(data) != count:
        raise _refused(f"{show(path.name)} changed while it was read", where)
    return data
