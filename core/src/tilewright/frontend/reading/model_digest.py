"""Knows the digest that identifies a model: of the bytes of its file, and of the files beside it that hold its tensors.
Does not know what it is compared with.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import TilewrightError, model_error

if TYPE_CHECKING:
    from tilewright.frontend.reading.external import Entries


def model_digest(model: Path | bytes) -> str:
    """SHA-256 of a model, which a saved state names. TilewrightError TW1201 (exit 3) where its file cannot be read."""
    if isinstance(model, bytes):
        return sha256(model).hexdigest()
    try:
        data = model.read_bytes()
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise model_error(
            "TW1201",
            f"cannot read the model: {'there is no such file' if missing else error.strerror or error}",
            where=str(model),
            fix=("name the model that the state was saved of: the report says which file it is",),
        ) from error
    combined = sha256(data)
    for digest in _digests_beside(model, data):
        combined.update(digest)
    return combined.hexdigest()


def files_beside(model: Path) -> tuple[Path, ...]:
    """Files that `model` says its tensors are in, whether they may be read or not. None where it cannot be read."""
    from tilewright.frontend.reading.reader import read_bytes
    from tilewright.ir.graphs.model_formats import Limits

    try:
        named = _entries_by_location(read_bytes(model, Limits()))
    except TilewrightError:
        return ()
    return tuple(model.parent / location for location in named if "\0" not in location)


def _digests_beside(model: Path, data: bytes) -> list[bytes]:
    """Digests of the files with tensors, in the order of their names. A file that may not be read adds nothing."""
    from tilewright.frontend.reading.external import ExternalFiles
    from tilewright.ir.graphs.model_formats import Limits

    files = ExternalFiles(model=model, allowed=True, limits=Limits(file_bytes=sys.maxsize))
    digests = []
    for location, entries in sorted(_entries_by_location(data).items()):
        with suppress(TilewrightError), files.opened(entries, location) as content:
            digests.append(file_digest(content, "sha256").digest())
    return digests


def _entries_by_location(data: bytes) -> dict[str, Entries]:
    """Location -> the entries of one tensor in that file; empty where the bytes are no model."""
    if b"location" not in data:
        return {}
    from tilewright.frontend.reading.external import entries_of, external_tensors
    from tilewright.frontend.reading.reader import parse
    from tilewright.ir.graphs.model_formats import Limits

    try:
        tensors = [entries_of(tensor) for tensor in external_tensors(parse(data, Limits()))]
    except TilewrightError:
        return {}
    return {dict(entries).get("location", ""): entries for entries in tensors}
