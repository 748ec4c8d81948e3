"""Bytes that cannot be an ONNX model, and why: what a person can act on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.frontend.reading.wire import damage, holds_graph


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*parts, number))


def field(number: int, kind: int, body: bytes) -> bytes:
    return varint(number << 3 | kind) + body


def text(number: int, body: bytes) -> bytes:
    return field(number, 2, varint(len(body)) + body)


bodies = st.binary(max_size=300)
fields = st.one_of(
    st.builds(text, st.integers(1, 5000), bodies),
    st.builds(field, st.integers(1, 5000), st.just(0), st.integers(0, 2**64 - 1).map(varint)),
    st.builds(field, st.integers(1, 40), st.just(1), st.binary(min_size=8, max_size=8)),
    st.builds(field, st.integers(1, 40), st.just(5), st.binary(min_size=4, max_size=4)),
)
HEAD = text(2, b"pytorch")


@pytest.mark.slow
@given(st.lists(fields, max_size=5))
def test_fields_are_whole(found: list[bytes]) -> None:
    assert damage(HEAD + b"".join(found)) == ""


@given(fields, st.data())
def test_a_field_that_ends_early(last: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(last) - 1))
    assert damage(HEAD + last[:cut]).endswith("(truncated?)")


def test_how_much_is_missing() -> None:
    graph = text(7, bytes(5000))
    assert damage(HEAD + graph[:-1234]) == "it ends in the middle of its graph: 1,234 bytes are missing (truncated?)"
    assert damage(text(9, b"abc")[:-1]) == "it ends in the middle of field 9: 1 bytes are missing (truncated?)"


@pytest.mark.parametrize("key", [varint(0 << 3 | 2), varint(5 << 3 | 3), varint(300 << 3 | 6)])
def test_what_is_no_field(key: bytes) -> None:
    """Groups (3, 4) are gone from protobuf; 6 and 7, and a field 0, have never been. The place is the field's first."""
    assert damage(HEAD + key + bytes(20)) == f"the bytes at offset {len(HEAD)} are no protobuf field"


def test_a_number_without_end() -> None:
    """No number of protobuf has more than ten bytes, however many follow."""
    assert damage(HEAD + b"\xff" * 40) == f"the bytes at offset {len(HEAD)} are no protobuf field"
    assert damage(HEAD + field(5, 0, b"\xff" * 40)) == f"the bytes at offset {len(HEAD)} are no protobuf field"


@pytest.mark.parametrize(("data", "reason"), [
    (b"", "it is empty"),
    (b"PK\x03\x04rest", "zip archive"),
    (b"\x1c\0\0\0TFL3", "TensorFlow Lite"),
    (b"TFL3", "no protobuf field"),  # only at the fourth byte
    (b"\x1c\0\0\0ORTM", "onnxruntime's own format"),
    (b"\x89HDF\r\n", "HDF5"),
    (b"\x80\x02}q", "Python pickle"),
    (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
    (b"<!DOCTYPE html>", "web page"),
    (b"\x1f\x8b\x08", "gzip"),
    (b"\x7fELF", "a program"),
])  # fmt: skip
def test_other_formats(data: bytes, reason: str) -> None:
    assert reason in damage(data)


def test_a_model_has_a_graph() -> None:
    assert holds_graph(b"\x08\x08\x3a\x01\x00") and not holds_graph(b"\x08\x08") and not holds_graph(b"")
    assert not holds_graph(b"\x38\x01")  # a number in its place
    assert not holds_graph(b"\x08\x08\x9a")  # it ends in the middle of a field
