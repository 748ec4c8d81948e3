"""Knows how attributes of a file become Python values of the types an `Import` declares.
Does not know any operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tilewright.frontend.reading.file_model import FileAttribute, FileNode, FileTensor
from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.reader import bad_attribute

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def unknown_attributes(node: FileNode, known: Mapping[str, str]) -> list[str]:
    """Names of attributes that the signature does not have."""
    return [attribute.name for attribute in node.attributes if attribute.name not in known]


def typed_attributes(
    node: FileNode, known: Mapping[str, str], decode: Callable[[FileTensor], Array], where: str
) -> dict[str, object]:
    """Every attribute as int, float, str, tuple or array. Raises TW1213 when a type is not the declared one."""
    values: dict[str, object] = {}
    for attribute in node.attributes:
        if attribute.name in values:
            raise bad_attribute(attribute.name, "is given twice", where)
        expected = known[attribute.name]
        if attribute.kind != expected:
            raise bad_attribute(attribute.name, f"is {attribute.kind}, but {node.op_type} takes {expected}", where)
        values[attribute.name] = _plain(attribute, decode, where)
    return values


def _plain(attribute: FileAttribute, decode: Callable[[FileTensor], Array], where: str) -> object:
    value = attribute.value
    if isinstance(value, bytes):
        return _text(value, attribute.name, where)
    if isinstance(value, FileTensor):
        return decode(value)
    if attribute.kind == "STRINGS" and isinstance(value, tuple):
        return tuple(_text(item, attribute.name, where) for item in value)
    if value is None or attribute.reference:
        reason = f"refers to {show(attribute.reference)} outside a function" if attribute.reference else "has no value"
        raise bad_attribute(attribute.name, reason, where)
    return value


def _text(value: bytes, name: str, where: str) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise bad_attribute(name, "is not valid UTF-8", where) from error
