"""Files that are no ONNX, or no protobuf, or lead out of their folder: cut off, nested without end, of wrong lengths.

`FILES` need nothing beside them; `BESIDE` are made in a folder, into which they put what they refer to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, helper

from small_models import model

VARINT, EIGHT, BYTES, GROUP, END, FOUR = range(6)  # wire types
GRAPH, NODES, INITIALISERS = 7, 1, 5  # fields of a model and of a graph


def varint(number: int) -> bytes:
    """A number of 7 bits a byte."""
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def field(number: int, content: bytes, length: int | None = None) -> bytes:
    """A field of bytes; `length` is what it says, where that is not so."""
    return varint(number << 3 | BYTES) + varint(len(content) if length is None else length) + content


def good() -> bytes:
    """A model that is right."""
    made = model(helper.make_node("Add", ["x", "w"], ["y"], name="n"), constants={"w": np.ones((1, 4), np.float32)})
    return bytes(made.SerializeToString())


def nested(numbers: tuple[int, ...], levels: int) -> bytes:
    """Fields in fields, around and around these numbers; the outermost is the first."""
    content = b""
    for level in reversed(range(levels)):
        content = field(numbers[level % len(numbers)], content)
    return content


def deep(levels: int) -> bytes:
    """A model whose graph has a node with an attribute with a graph, and so on."""
    content = b""
    for _ in range(levels):
        content = field(NODES, field(5, field(6, content)))  # node, its attribute, the graph of that
    return good() + field(GRAPH, content)


def without_utf8() -> bytes:
    """Names that are no text."""
    return good().replace(b"\x0a\x01x\x0a\x01w", b"\x0a\x01\xff\x0a\x01\xfe")


FILES: Mapping[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "zeros": lambda: b"\0" * 4096,
    "ones": lambda: b"\xff" * 4096,
    "text": lambda: b"import os; os.system('id')\n" * 9,
    "an archive": lambda: b"PK\3\4" + b"\0" * 200,
    "a pickle": lambda: b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.",
    "a quarter": lambda: good()[: len(good()) // 4],
    "a half": lambda: good()[: len(good()) // 2],
    "all but a byte": lambda: good()[:-1],
    "two models": lambda: good() + good(),
    "bytes behind the end": lambda: good() + b"\xde\xad\xbe\xef",
    "a field without a number": lambda: good() + b"\x02\x01x",
    "a field of 2^29": lambda: good() + field((1 << 29) - 1, b"x"),
    "a field of wire type 7": lambda: good() + b"\x0f",
    "a number of 11 bytes": lambda: good() + b"\x08" + b"\xff" * 11,
    "a number that is cut off": lambda: good() + b"\x08\xff",
    "a length of 2^63": lambda: good() + field(GRAPH, b"x", length=1 << 63),
    "a length of 2^64 - 1": lambda: good() + field(GRAPH, b"x", length=(1 << 64) - 1),
    "a length one too large": lambda: good() + field(GRAPH, b"\x12\x01g", length=4),
    "a tensor of 2^62 bytes": lambda: good() + field(GRAPH, field(INITIALISERS, field(9, b"x", length=1 << 62))),
    "a group that does not end": lambda: good() + varint(99 << 3 | GROUP),
    "an end without a group": lambda: good() + varint(99 << 3 | END),
    "100,000 groups in each other": lambda: good() + varint(99 << 3 | GROUP) * 100_000,
    "20,000 unknown fields in each other": lambda: good() + nested((99,), 20_000),
    "20 graphs in each other": lambda: deep(20),
    "30 graphs in each other": lambda: deep(30),
    "1,000 graphs in each other": lambda: deep(1000),
    "5,000 graphs in each other": lambda: deep(5000),
    "a million empty nodes": lambda: field(GRAPH, field(NODES, b"") * 1_000_000),
    "a million empty tensors": lambda: field(GRAPH, field(INITIALISERS, b"") * 1_000_000),
    "a million unknown fields": lambda: good() + field(99, b"") * 1_000_000,
    "names that are no text": without_utf8,
    "packed dimensions that are cut off": lambda: (
        good() + field(GRAPH, field(INITIALISERS, field(1, b"\xff\xff", length=2)))
    ),
}


def external(
    folder: Path, *, keys: Mapping[str, str], content: bytes = b"\1" * 16, dims: tuple[int, ...] = (1, 4)
) -> ModelProto:
    """A constant beside the model; `content` is put into `w.bin`."""
    (folder / "w.bin").write_bytes(content)
    made = model(helper.make_node("Add", ["x", "w"], ["y"]))
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in keys.items():
        weights.external_data.add(key=key, value=value)
    made.graph.initializer.append(weights)
    return made


def _at(location: str, **more: str) -> Callable[[Path], ModelProto]:
    return lambda folder: external(folder, keys={"location": location, **more})


def _through(make: Callable[[Path], object], location: str = "link") -> Callable[[Path], ModelProto]:
    def made(folder: Path) -> ModelProto:
        found = external(folder, keys={"location": location})
        make(folder)
        return found

    return made


def _linked_folder(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "w.bin").rename(folder / "real" / "w.bin")
    (folder / "link").symlink_to("real", target_is_directory=True)


BESIDE: Mapping[str, Callable[[Path], ModelProto]] = {
    "data above the folder": _at("../w.bin"),
    "data above and back": _at("a/../../w.bin"),
    "data by its whole path": _at("/etc/passwd"),
    "data of a device": _at("/dev/zero"),
    "data of the process": _at("/proc/self/mem"),
    "data by a backslash": _at("..\\w.bin"),
    "data with a 0 in its name": _at("w.bin\0.png"),
    "data without a place": lambda folder: external(folder, keys={}),
    "data in an empty place": _at(""),
    "data in the folder itself": _at("."),
    "data that is not there": _at("other.bin"),
    "data that is the model": _at("model.onnx"),
    "data by a link": _through(lambda folder: (folder / "link").symlink_to("w.bin")),
    "data by a hard link": _through(lambda folder: os.link(folder / "w.bin", folder / "link")),
    "data by a linked folder": _through(_linked_folder, "link/w.bin"),
    "data of a pipe": _through(lambda folder: os.mkfifo(folder / "link")),
    "data from -1": _at("w.bin", offset="-1"),
    "data from 2^63": _at("w.bin", offset=str(1 << 63)),
    "data from behind the end": _at("w.bin", offset="17"),
    "data from 1e3": _at("w.bin", offset="1e3"),
    "data of length -1": _at("w.bin", length="-1"),
    "data of length 2^63": _at("w.bin", length=str(1 << 63)),
    "data of another length": _at("w.bin", length="12"),
    "data with a key too many": _at("w.bin", __class__="x"),
    "data of 2^40": lambda folder: external(folder, keys={"location": "w.bin"}, dims=(1 << 40,)),
}
