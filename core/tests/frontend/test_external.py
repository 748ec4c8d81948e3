"""External data: only an ordinary file inside the model's folder, only when asked for, only bytes that are there."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tilewright.errors import Exit

DATA = np.arange(4, dtype=np.float32).tobytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model").mkdir()
    (tmp_path / "secret").write_bytes(DATA)
    (tmp_path / "model" / "w.bin").write_bytes(b"\0" * 16 + DATA)
    return tmp_path / "model"


@pytest.fixture
def write(model, folder):
    """A model whose weights are external, with the given fields."""

    def make(fields: list[tuple[str, str]]) -> Path:
        weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1, 4])
        weights.data_location = TensorProto.EXTERNAL
        for key, value in fields:
            weights.external_data.add(key=key, value=value)
        path = folder / "m.onnx"
        path.write_bytes(model([helper.make_node("Add", ["x", "w"], ["y"])], constants=[weights]).SerializeToString())
        return path

    return make


GOOD = [("location", "w.bin"), ("offset", "16"), ("length", "16")]


def test_read_when_allowed(loads, write):
    array = loads(write(GOOD), allow_external=True).graph.constants["w"]
    assert array.tolist() == [[0, 1, 2, 3]]


def test_length_may_be_left_out(loads, write):
    assert loads(write(GOOD[:2]), allow_external=True).graph.constants["w"][0, 3] == 3


def test_off_unless_asked_for(refuses, write):
    assert "--allow-external" in refuses(write(GOOD), "TW1210")


def test_bytes_have_no_folder(refuses, write):
    refuses(write(GOOD).read_bytes(), "TW1210", allow_external=True)


@pytest.mark.parametrize(
    "location",
    ["../secret", "/etc/passwd", "", "a/../w.bin", "..", ".", "a//b", "C:\\x", "w.bin\0", "missing", "./w.bin/x"],
)
def test_places_outside_or_absent(refuses, write, location):
    refuses(write([("location", location), ("offset", "16")]), "TW1210", Exit.MODEL, allow_external=True)


def test_symbolic_links(refuses, write, folder):
    (folder / "link").symlink_to(folder / "w.bin")
    assert "symbolic link" in refuses(write([("location", "link"), *GOOD[1:]]), "TW1210", allow_external=True)


def test_a_linked_folder(refuses, write, folder):
    (folder / "sub").symlink_to(folder.parent)
    assert "symbolic link" in refuses(write([("location", "sub/secret")]), "TW1210", allow_external=True)


def test_hard_links(refuses, write, folder):
    os.link(folder.parent / "secret", folder / "hard")
    assert "hard link" in refuses(write([("location", "hard")]), "TW1210", allow_external=True)


def test_a_pipe_is_not_waited_for(refuses, write, folder):
    os.mkfifo(folder / "pipe")
    refuses(write([("location", "pipe")]), "TW1210", allow_external=True)


def test_a_folder_is_no_file(refuses, write, folder):
    (folder / "d").mkdir()
    refuses(write([("location", "d")]), "TW1210", allow_external=True)


@pytest.mark.parametrize(
    "extra",
    [
        [("offset", "32")],
        [("offset", "-1")],
        [("offset", "1e3")],
        [("offset", "9" * 30)],
        [("offset", "20"), ("length", "16")],
        [("offset", "16"), ("length", str(1 << 62))],
        [("basepath", "/")],
        [("__class__", "x")],
        [("location", "w.bin")],
    ],
)
def test_fields(refuses, write, extra):
    text = refuses(write([("location", "w.bin"), *extra]), code_of(extra), allow_external=True)
    assert "w" in text


def code_of(extra: list[tuple[str, str]]) -> str:
    """The code: a range inside the file of the wrong length is a data error, everything else a refusal."""
    return "TW1211" if extra == [("offset", "32")] else "TW1210"


def test_length_must_be_the_tensors(refuses, write):
    refuses(write([("location", "w.bin"), ("length", "12")]), "TW1211", allow_external=True)


def test_checksum_is_checked(loads, refuses, write, folder):
    good = hashlib.sha1((folder / "w.bin").read_bytes()).hexdigest()
    assert loads(write([*GOOD, ("checksum", good)]), allow_external=True).graph.constants["w"][0, 1] == 1
    refuses(write([*GOOD, ("checksum", "0" * 40)]), "TW1210", allow_external=True)


def test_a_huge_tensor_is_refused_before_reading(refuses, write):
    path = write(GOOD)
    proto = onnx.load(str(path), load_external_data=False)
    proto.graph.initializer[0].dims[:] = [1 << 31, 1 << 31]
    path.write_bytes(proto.SerializeToString())
    refuses(path, "TW1206", allow_external=True)
