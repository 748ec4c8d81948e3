"""Knows how a model and the files beside it become one: the bytes of a model whose tensors are all inside.
Does not know what the tensors are for; who is given it opens no other file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tilewright.frontend.reading.external import Entries, ExternalFiles
from tilewright.frontend.reading.import_options import ImportOptions
from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.reader import over_limit, parse, read_bytes, told_of

_EXTERNAL = 1  # TensorProto.EXTERNAL
_KEY = b"location"  # which every such tensor has


def embedded(source: Path | bytes, options: ImportOptions) -> bytes:
    """The model with the elements inside that it keeps in other files; its own bytes where there are none.

    TilewrightError (exit 3): what cannot be read, or may not be by the options, as `load` says it.
    """
    with told_of(source):
        data = read_bytes(source, options.limits) if isinstance(source, Path) else source
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
            raise over_limit("the files beside it hold", total, "bytes or more", most, word="constants")
        tensor.raw_data = elements
        tensor.ClearField("external_data")
        tensor.data_location = 0  # TensorProto.DEFAULT


def entries_of(tensor: Any) -> Entries:
    """What a tensor says of where its elements are."""
    return tuple((entry.key, entry.value) for entry in tensor.external_data)


def external_tensors(proto: Any) -> Iterator[Any]:
    """Every tensor of a protobuf whose elements are elsewhere, wherever it stands: initialisers, attributes, bodies."""
    for description, value in proto.ListFields():
        if description.message_type is None:
            continue
        for part in (value,) if hasattr(value, "ListFields") else value:
            if part.DESCRIPTOR.name != "TensorProto":
                yield from external_tensors(part)
            elif part.data_location == _EXTERNAL:
                yield part
