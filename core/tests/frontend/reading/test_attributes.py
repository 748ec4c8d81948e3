"""Attributes as Python values of the declared types, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.frontend.reading.attributes import typed_attributes, unknown_attributes
from tilewright.frontend.reading.file_model import FileAttribute, FileNode, FileTensor

KNOWN = {"axis": "INT", "pads": "INTS", "mode": "STRING", "names": "STRINGS", "value": "TENSOR", "alpha": "FLOAT"}


def node(*attributes: FileAttribute) -> FileNode:
    return FileNode(
        name="n", op_type="Pad", domain="", overload="", version=17, inputs=("x",), outputs=("y",),
        attributes=attributes,
    )  # fmt: skip


def attribute(name: str, value: object = None, kind: str = "", reference: str = "") -> FileAttribute:
    return FileAttribute(name=name, kind=kind or KNOWN[name], value=value, reference=reference)


def typed(*attributes: FileAttribute) -> Mapping[str, object]:
    return typed_attributes(node(*attributes), KNOWN, lambda tensor: np.full(2, len(tensor.dims)), "node 'n'")


def test_every_type() -> None:
    tensor = FileTensor(name="t", data_type=1, dims=(1, 2, 3))
    found = dict(typed(
        attribute("axis", 0), attribute("pads", (1, 2)), attribute("mode", "é".encode()),
        attribute("names", (b"a", b"")), attribute("value", tensor), attribute("alpha", 0.5),
    ))  # fmt: skip
    assert np.array_equal(found.pop("value"), [3, 3])
    assert found == {"axis": 0, "pads": (1, 2), "mode": "é", "names": ("a", ""), "alpha": 0.5}


def test_unknown_names() -> None:
    assert unknown_attributes(node(attribute("axis", 1), attribute("more", 2, "INT")), KNOWN) == ["more"]


@pytest.mark.parametrize(("attributes", "reason"), [
    ([attribute("axis", 1), attribute("axis", 1)], "is given twice"),
    ([attribute("axis", 1.0, "FLOAT")], "is FLOAT, but Pad takes INT"),
    ([attribute("mode", b"\xff")], "is not valid UTF-8"),
    ([attribute("names", (b"a", b"\xff"))], "is not valid UTF-8"),
    ([attribute("axis")], "has no value"),
    ([attribute("axis", reference="outer")], "refers to 'outer' outside a function"),
])  # fmt: skip
def test_refusals(attributes: list[FileAttribute], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason) as caught:
        typed(*attributes)
    error = caught.value
    assert (error.code, error.exit_code, error.where) == ("TW1213", Exit.MODEL, "node 'n'")
