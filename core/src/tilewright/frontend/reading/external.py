"""Knows which bytes outside the model file a tensor may take, reads them (one regular file beside the model), and puts
them into the model where one file is wanted. Does not know what tensors are for. None of this is left to onnx, whose
own rules were bypassed more than once.

A location is the name of a file in the model's folder, as exporters write it, or, where that is allowed, a relative
path without `..`; no part of it is a symbolic link; the file is regular, is not the model itself, has one name (no hard
links), and is inside the limits; offset and length are within the file. What is read is the file that was looked at:
it is opened once, and never waited for.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any

from tilewright.errors import TilewrightError, model_error, typed
from tilewright.frontend.reading.formats import imported_model, is_onnx
from tilewright.frontend.reading.import_options import ImportOptions, raised
from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.reader import model_bytes, model_in_errors, over_limit, parse
from tilewright.ir.graphs.model_formats import Importer, Limits

Entries = tuple[tuple[str, str], ...]  # keys and values, as the model has them

_KNOWN_KEYS = frozenset({"location", "offset", "length", "checksum"})
_DIGITS = 19  # of a 63-bit number
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
_KINDS = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)
_AGAIN = "the exporter wrote an invalid file: export the model again"
_BESIDE = "put the data file into the model's own folder, under the name that the model gives"
_ELSEWHERE = "export the model again, with its weights inside or in a file beside it"
_INSIDE = "save the model with its weights inside: onnx.save(onnx.load(PATH), NEW_PATH)"
_STALE = "the data file belongs to another version of the model: export both again"
_EXTERNAL = 1  # TensorProto.EXTERNAL
_KEY = b"location"  # which every such tensor has


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalFiles:
    """Where external data may come from. `model` None: the model is bytes without a place. `allowed` None: files in the
    model's own folder; True: those in folders below it, too; False: none.
    """

    model: Path | None
    allowed: bool | None = None
    limits: Limits = field(default_factory=Limits)
    _digests: dict[tuple[int, ...], str] = field(default_factory=dict)  # of files with a checksum, by what they are

    def read(self, entries: Entries, size_bytes: int | None, where: str) -> bytes:
        """The bytes that `entries` describe, `size_bytes` of them if that is known.

        Raises TW1210; TW1203 for a file over the limit, and TW1211 for a wrong length.
        """
        fields = _fields(entries, where)
        with self.opened(entries, where) as file:
            try:
                if "checksum" in fields and fields["checksum"].lower() != self._sha1(file):
                    reason = f"{_name(fields)} does not have the checksum that the model gives"
                    raise _refused(reason, where, _STALE)
                return _read(file, fields, size_bytes, where)
            except OSError as error:
                raise _unreadable(_name(fields), error, where) from error

    @contextmanager
    def opened(self, entries: Entries, where: str) -> Iterator[BufferedReader]:
        """The file that `entries` name. Raises TW1210 where it may not be read, TW1203 where it is too large."""
        if self.allowed is False:
            reason = "the elements of a tensor are in another file, and reading other files is off (--no-external)"
            raise _error(reason, where, "leave out --no-external if you trust the model and the files beside it")
        if self.model is None:
            reason = "the model was given as bytes, and nobody knows which file they were"
            raise _refused(reason, where, "give the model's path instead of its bytes", f"or {_INSIDE}")
        fields = _fields(entries, where)
        parts, shown = self._parts(fields.get("location", ""), where), _name(fields)
        _demand_plain(self.model.parent, parts, shown, where)
        descriptor = _open(self.model.parent, parts, shown, where)
        try:
            self._demand_right(os.fstat(descriptor), shown, where)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                yield file
        finally:
            os.close(descriptor)

    def _parts(self, location: str, where: str) -> tuple[str, ...]:
        """A location, part by part. TW1210 where its text alone says that the file may not be read."""
        parts, shown = tuple(location.split("/")), show(location)
        if not location:
            raise _refused("the model does not say in which file", where, _AGAIN)
        if location.startswith("/"):
            raise _refused(f"location {shown} is an absolute path", where, _ELSEWHERE)
        if ".." in parts:
            raise _refused(f"location {shown} leads out of the model's folder", where, _ELSEWHERE)
        if "" in parts or any(character in location for character in "\0\\:"):
            raise _refused(f"location {shown} is not a plain file name", where, _ELSEWHERE)
        if len(parts) > 1 and not self.allowed:
            further = typed("--allow-external", gives="if you trust the model and the files in folders below it")
            raise _refused(f"location {shown} is no file right beside the model", where, further, f"or {_INSIDE}")
        if self.model is not None and location == self.model.name:
            raise _refused(f"location {shown} is the model itself", where, _AGAIN)
        return parts

    def _demand_right(self, status: os.stat_result, shown: str, where: str) -> None:
        """TW1210, TW1203 where the opened file may not be read, whatever its name was a moment before."""
        if not stat.S_ISREG(status.st_mode):
            raise _refused(f"{shown} {_kind(status)}, not a file", where, _BESIDE)
        if self._is_model(status):
            raise _refused(f"{shown} is the model itself", where, _AGAIN)
        if status.st_nlink > 1:
            copy = "replace it by a copy of itself, which has one name"
            raise _refused(f"{shown} has a second name somewhere (a hard link)", where, copy)
        if status.st_size > self.limits.file_bytes:
            raise model_error(
                "TW1203",
                f"{shown} has {status.st_size:,} bytes, more than the limit of {self.limits.file_bytes:,}",
                where=where,
                fix=(raised("file", status.st_size), "export a smaller model"),
            )

    def _is_model(self, status: os.stat_result) -> bool:
        try:
            return self.model is not None and os.path.samestat(status, self.model.stat())
        except OSError:  # it is gone: nothing can be it
            return False

    def _sha1(self, file: BufferedReader) -> str:
        """Digest of a whole file, once: what ONNX means by checksum. Against damage, not against attackers."""
        status = os.fstat(file.fileno())
        key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if key not in self._digests:
            self._digests[key] = hashlib.file_digest(file, "sha1").hexdigest()
        return self._digests[key]


def _refused(reason: str, where: str, *fix: str) -> TilewrightError:
    return _error(f"external data is refused: {reason}", where, *fix)


def _error(message: str, where: str, *fix: str) -> TilewrightError:
    return model_error("TW1210", message, where=where, fix=fix)


def _fields(entries: Entries, where: str) -> Mapping[str, str]:
    unknown = [key for key, _ in entries if key not in _KNOWN_KEYS]
    if unknown:
        raise _refused(f"unknown key {show(unknown[0])}", where, _AGAIN)
    fields = dict(entries)
    if len(fields) != len(entries):
        raise _refused("a key is given twice", where, _AGAIN)
    return fields


def _name(fields: Mapping[str, str]) -> str:
    return show(fields.get("location", ""))


def _number(fields: Mapping[str, str], key: str, where: str) -> int | None:
    text = fields.get(key)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise _refused(f"{key} {show(text)} is not a number", where, _AGAIN)
    return int(text)


def _kind(status: os.stat_result) -> str:
    return next((said for is_kind, said in _KINDS if is_kind(status.st_mode)), "is something else")


def _demand_plain(folder: Path, parts: Sequence[str], shown: str, where: str) -> None:
    """TW1210 where a part is a link, or the last part no file: to open a device may already do something."""
    path = folder
    for part in parts:
        path = path / part
        try:
            status = path.lstat()
        except OSError as error:
            raise _unreadable(shown, error, where) from error
        if stat.S_ISLNK(status.st_mode):
            raise _refused(f"{shown} is or goes through a symbolic link", where, "put the file in the link's place")
    if not stat.S_ISREG(status.st_mode):
        raise _refused(f"{shown} {_kind(status)}, not a file", where, _BESIDE)


def _open(folder: Path, parts: Sequence[str], shown: str, where: str) -> int:
    """A descriptor of the file: each part is opened in the one before, so that none can be exchanged for a link."""
    try:
        descriptor = os.open(folder / parts[0], _FLAGS)
        for part in parts[1:]:
            above = descriptor
            try:
                descriptor = os.open(part, _FLAGS, dir_fd=above)
            finally:
                os.close(above)
    except OSError as error:
        raise _unreadable(shown, error, where) from error
    return descriptor


def _unreadable(shown: str, error: OSError, where: str) -> TilewrightError:
    if isinstance(error, FileNotFoundError):
        return _refused(f"there is no file {shown} beside the model", where, _BESIDE)
    return _refused(f"{shown}: {error.strerror or 'cannot be read'}", where, "check the permissions of the file")


def _read(file: BufferedReader, fields: Mapping[str, str], size_bytes: int | None, where: str) -> bytes:
    offset, length = _number(fields, "offset", where) or 0, _number(fields, "length", where)
    whole = os.fstat(file.fileno()).st_size
    count = whole - offset if length is None else length
    if offset + count > whole or count < 0:
        wanted = f"bytes {offset:,} to {offset + max(count, 0):,} are asked for"
        raise _refused(f"{wanted}, but {_name(fields)} has {whole:,}", where, _STALE)
    if size_bytes is not None and count != size_bytes:
        raise model_error(
            "TW1211",
            f"external data has {count:,} bytes, but the tensor's type and dimensions need {size_bytes:,}",
            where=where,
            fix=(_STALE,),
        )
    file.seek(offset)
    data = file.read(count)
    if len(data) != count:
        raise _refused(f"{_name(fields)} changed while it was read", where, "run the command again")
    return data


def embedded(source: Path | bytes, options: ImportOptions, importers: Collection[Importer] = ()) -> bytes:
    """The model as ONNX, its external elements moved inside; its own bytes where it has no external elements.

    TilewrightError (exit 3): what cannot be read, or may not be by the options, as `load` says it.
    """
    with model_in_errors(source):
        data = model_bytes(source, options.limits)
        if importers and not is_onnx(data, options.limits):
            return bytes(imported_model(source, options.reading, importers).model.SerializeToString())
        if _KEY not in data:
            return data
        proto = parse(data, options.limits)
        file = source if isinstance(source, Path) else None
        _embed(proto, ExternalFiles(model=file, allowed=options.allow_external, limits=options.limits))
        return bytes(proto.SerializeToString())


def _embed(proto: Any, files: ExternalFiles) -> None:
    total, most = 0, files.limits.constant_bytes
    for tensor in external_tensors(proto):
        elements = files.read(entries_of(tensor), None, f"tensor {show(tensor.name)}")
        total += len(elements)
        if total > most:
            raise over_limit("the files beside it hold", total, "bytes or more", most, name="constants")
        tensor.raw_data = elements
        tensor.ClearField("external_data")
        tensor.data_location = 0  # TensorProto.DEFAULT


def entries_of(tensor: Any) -> Entries:
    """The location of a tensor's elements, as the tensor states it."""
    return tuple((entry.key, entry.value) for entry in tensor.external_data)


def external_tensors(proto: Any) -> Iterator[Any]:
    """Every tensor of a protobuf whose elements are elsewhere, wherever it stands: initialisers, attributes, bodies."""
    from google.protobuf.message import Message

    for description, value in proto.ListFields():
        if description.message_type is None:
            continue
        for part in (value,) if isinstance(value, Message) else value:
            if part.DESCRIPTOR.name != "TensorProto":
                yield from external_tensors(part)
            elif part.data_location == _EXTERNAL:
                yield part
