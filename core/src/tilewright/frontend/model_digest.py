"""Knows what tells one model from another: the bytes of its file, and of the files beside it that hold its tensors.
Does not know what is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import file_digest, sha256
from itertools import chain
from pathlib import Path

from tilewright.errors import TilewrightError, model_error
from tilewright.frontend.file_model import FileGraph, FileNode, FileTensor


def model_digest(model: Path | bytes) -> str:
    """SHA-256 of the model that a state is of. TilewrightError TW1201 (exit 3) where its file cannot be read."""
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
    found = sha256(data)
    for file in _beside(data, model.parent) if b"location" in data else ():
        with file.open("rb") as content:
            found.update(file_digest(content, "sha256").digest())
    return found.hexdigest()


def _beside(data: bytes, folder: Path) -> tuple[Path, ...]:
    """Files with tensors of the model, in the order of their names. What the front end refuses to read adds nothing."""
    from tilewright.frontend.external import location_of
    from tilewright.frontend.options import Limits
    from tilewright.frontend.reader import read_model

    files = set()
    try:
        model = read_model(data, Limits())
        bodies = [model.graph.nodes, *(function.nodes for function in model.functions.values())]
        for tensor in (*model.graph.initializers, *chain.from_iterable(map(_tensors, bodies))):
            if tensor.external is not None:
                files.add(location_of(tensor.external, folder, tensor.name))
    except TilewrightError:
        return ()
    return tuple(sorted(files))


def _tensors(nodes: Iterable[FileNode]) -> Iterator[FileTensor]:
    """Those that are attributes of the nodes, and everything in their bodies."""
    for node in nodes:
        for attribute in node.attributes:
            for value in attribute.value if isinstance(attribute.value, tuple) else (attribute.value,):
                if isinstance(value, FileTensor):
                    yield value
                elif isinstance(value, FileGraph):
                    yield from value.initializers
                    yield from _tensors(value.nodes)
