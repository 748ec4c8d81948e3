"""External data: an ordinary file right beside the model, of its folders only when asked for, and only bytes that are
there. Every refusal says what is wrong, and nothing else happens: nothing is waited for, and no link is followed."""

from __future__ import annotations

import hashlib
import os
import socket
from contextlib import chdir
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import TilewrightError
from tilewright.frontend.reading import external
from tilewright.frontend.reading.external import embedded, entries_of, external_tensors
from tilewright.frontend.reading.import_options import ImportOptions
from tilewright.ir.graphs.model_formats import Limits

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
EITHER = pytest.mark.parametrize("allowed", [None, True], ids=["beside", "below"])


@EITHER
def test_a_file_beside_the_model_is_read(loads, write, allowed):
    array = loads(write(GOOD), allow_external=allowed).graph.constants["w"]
    assert array.tolist() == [[0, 1, 2, 3]]


def test_so_it_is_where_the_model_is_named_without_a_folder(loads, write, folder, monkeypatch):
    file = write(GOOD)
    monkeypatch.chdir(folder)
    assert loads(Path(file.name)).graph.constants["w"][0, 3] == 3


def test_length_may_be_left_out(loads, write):
    assert loads(write(GOOD[:2])).graph.constants["w"][0, 3] == 3


def test_nothing_is_read_where_all_is_refused(refuses, write, folder):
    file = write(GOOD)
    (folder / "w.bin").unlink()  # nobody looks
    assert "is off (--no-external)" in refuses(file, "TW1210", allow_external=False)


def test_folders_below_are_read_where_that_is_allowed(loads, refuses, write, folder):
    (folder / "sub" / "sub").mkdir(parents=True)
    (folder / "w.bin").rename(folder / "sub" / "sub" / "w.bin")
    for location in ("sub/sub/w.bin", "./sub/sub/w.bin"):
        file = write([("location", location), *GOOD[1:]])
        assert "--allow-external" in refuses(file, "TW1210")
        assert loads(file, allow_external=True).graph.constants["w"][0, 1] == 1


def test_bytes_have_no_folder(refuses, write):
    text = refuses(write(GOOD).read_bytes(), "TW1210", allow_external=True)
    assert "was given as bytes" in text
    assert "give the model's path" in text


@EITHER
@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("../secret", "leads out of"),
        ("a/../w.bin", "leads out of"),
        ("..", "leads out of"),
        ("/etc/passwd", "an absolute path"),
        ("//etc/passwd", "an absolute path"),
        ("/dev/zero", "an absolute path"),
        ("", "does not say in which file"),
        ("a//b", "not a plain file name"),
        ("w.bin/", "not a plain file name"),
        ("C:\\x", "not a plain file name"),
        ("..\\secret", "not a plain file name"),
        ("w.bin\0", "not a plain file name"),
        (".", "is a folder, not a file"),
        ("d", "is a folder, not a file"),
        ("pipe", "is a pipe, not a file"),
        ("socket", "is a socket, not a file"),
        ("missing", "there is no file 'missing' beside the model"),
        ("x" * 300, "File name too long"),
        ("m.onnx", "is the model itself"),
        ("link", "a symbolic link"),
        ("dangling", "a symbolic link"),
        ("inside", "a symbolic link"),
        ("hard", "a hard link"),
    ],
)
def test_what_may_not_be_read(refuses, write, folder, location, reason, allowed):
    (folder / "d").mkdir()
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as made, chdir(folder):
        made.bind("socket")
    (folder / "link").symlink_to(folder.parent / "secret")
    (folder / "dangling").symlink_to(folder / "nowhere")
    (folder / "inside").symlink_to(folder / "w.bin")
    os.link(folder.parent / "secret", folder / "hard")
    text = refuses(write([("location", location), *GOOD[1:]]), "TW1210", allow_external=allowed)
    assert reason in " ".join(text.split())


def test_folders_below_are_no_way_out(refuses, write, folder):
    (folder / "sub").symlink_to(folder.parent)
    (folder / "real").mkdir()
    (folder / "real" / "link").symlink_to(folder / "w.bin")
    os.mkfifo(folder / "real" / "pipe")
    for location, reason in (
        ("sub/secret", "a symbolic link"),
        ("real/link", "a symbolic link"),
        ("real/pipe", "is a pipe"),
        ("real/missing", "there is no file"),
        ("w.bin/x", "Not a directory"),
        ("./m.onnx", "is the model itself"),
    ):
        assert reason in refuses(write([("location", location)]), "TW1210", allow_external=True)


def test_devices(refuses, write, folder, monkeypatch):
    status = os.stat("/dev/null")
    monkeypatch.setattr(Path, "lstat", lambda path: status)
    assert "is a device, not a file" in refuses(write(GOOD), "TW1210")


def test_a_file_that_may_not_be_opened(refuses, write, monkeypatch):
    def denied(*given, **further):
        raise PermissionError(13, "Permission denied")

    file = write(GOOD)
    monkeypatch.setattr(os, "open", denied)
    text = refuses(file, "TW1210")
    assert "'w.bin': Permission denied" in text
    assert "check the permissions" in text


@pytest.mark.parametrize(
    ("exchange", "reason"),
    [
        (lambda file, secret: file.symlink_to(secret), "symbolic link"),
        (lambda file, secret: os.mkfifo(file), "is a pipe, not a file"),
        (lambda file, secret: file.mkdir(), "is a folder, not a file"),
        (lambda file, secret: os.link(secret, file), "a hard link"),
        (lambda file, secret: None, "there is no file"),
    ],
    ids=["link", "pipe", "folder", "hard link", "nothing"],
)
def test_a_file_that_is_exchanged_after_it_was_looked_at(refuses, write, folder, monkeypatch, exchange, reason):
    file, really = write(GOOD), external._open

    def late(*given):
        (folder / "w.bin").unlink()
        exchange(folder / "w.bin", folder.parent / "secret")
        return really(*given)

    monkeypatch.setattr(external, "_open", late)
    open_before = set(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else None
    assert reason in refuses(file, "TW1210").replace("Too many levels of symbolic links", "symbolic link")
    assert open_before is None or len(os.listdir("/proc/self/fd")) == len(open_before)


def test_a_folder_that_is_exchanged_after_it_was_looked_at(refuses, write, folder, monkeypatch):
    (folder / "sub").mkdir()
    (folder / "w.bin").rename(folder / "sub" / "w.bin")
    (folder.parent / "w.bin").write_bytes(bytes(64))
    file, really = write([("location", "sub/w.bin"), *GOOD[1:]]), external._open

    def late(*given):
        (folder / "sub").rename(folder / "before")
        (folder / "sub").symlink_to(folder.parent)
        return really(*given)

    monkeypatch.setattr(external, "_open", late)
    refuses(file, "TW1210", allow_external=True)


def test_a_file_that_shrinks_while_it_is_read(refuses, write, folder, monkeypatch):
    really = external._number

    def late(*given):
        (folder / "w.bin").write_bytes(bytes(20))
        return really(*given)

    file = write(GOOD)
    whole = os.stat(folder / "w.bin")
    monkeypatch.setattr(os, "fstat", lambda descriptor: whole)
    monkeypatch.setattr(external, "_number", late)
    assert "changed while it was read" in refuses(file, "TW1210")


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ([("offset", "33")], "bytes 33 to 33 are asked for, but 'w.bin' has 32"),
        ([("offset", "-1")], "offset '-1' is not a number"),
        ([("offset", "1e3")], "offset '1e3' is not a number"),
        ([("offset", "\u0661")], "is not a number"),
        ([("offset", "9" * 30)], "is not a number"),
        ([("offset", str((1 << 63) - 1)), ("length", "16")], "but 'w.bin' has 32"),
        ([("offset", "20"), ("length", "16")], "bytes 20 to 36 are asked for, but 'w.bin' has 32"),
        ([("offset", "16"), ("length", str(1 << 62))], "but 'w.bin' has 32"),
        ([("offset", "16"), ("length", "-16")], "length '-16' is not a number"),
        ([("basepath", "/")], "unknown key 'basepath'"),
        ([("__class__", "x")], "unknown key '__class__'"),
        ([("location", "w.bin")], "a key is given twice"),
    ],
)
def test_fields(refuses, write, extra, reason):
    assert reason in " ".join(refuses(write([("location", "w.bin"), *extra]), "TW1210").split())


@pytest.mark.parametrize("extra", [[("length", "12")], [("offset", "32")], [("offset", "0")]])
def test_length_must_be_the_tensors(refuses, write, extra):
    assert "need 16" in refuses(write([("location", "w.bin"), *extra]), "TW1211")


def test_a_file_over_the_limit(loads, refuses, write, folder):
    with (folder / "w.bin").open("ab") as file:
        file.truncate(100 << 20)  # a hole: nothing is written
    text = refuses(write(GOOD), "TW1203")
    assert "'w.bin' has 104,857,600 bytes" in text
    assert "--limit file=100M" in text
    assert loads(write(GOOD), limits=Limits(file_bytes=100 << 20)).graph.constants["w"][0, 3] == 3


def test_checksum_is_checked(loads, refuses, write, folder):
    good = hashlib.sha1((folder / "w.bin").read_bytes()).hexdigest()
    assert loads(write([*GOOD, ("checksum", good)])).graph.constants["w"][0, 1] == 1
    assert "checksum" in refuses(write([*GOOD, ("checksum", "0" * 40)]), "TW1210")


def test_a_file_is_digested_once_for_all_its_tensors(folder, monkeypatch):
    good = hashlib.sha1((folder / "w.bin").read_bytes()).hexdigest()
    digested, really = [], hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *given: digested.append(1) or really(*given))
    files = external.ExternalFiles(model=folder / "m.onnx")
    for _ in range(3):
        assert files.read((*GOOD, ("checksum", good)), 16, "w") == DATA
    assert len(digested) == 1


def test_a_huge_tensor_is_refused_before_reading(refuses, write):
    path = write(GOOD)
    proto = onnx.load(str(path), load_external_data=False)
    proto.graph.initializer[0].dims[:] = [1 << 31, 1 << 31]
    path.write_bytes(proto.SerializeToString())
    refuses(path, "TW1206")


WEIGHTS = np.arange(4, dtype=np.float32).reshape(1, 4)


def outside(location: str = "w.bin", **more: str) -> TensorProto:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1, 4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **more}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


@pytest.fixture
def saved(model, tmp_path):
    """A model file with tensors in `w.bin`, as initialiser, as attribute, and as both in a body."""
    (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())

    def make(place: str, location: str = "w.bin"):
        nodes, constants = [helper.make_node("Add", ["x", "w"], ["y"])], [outside(location)]
        if place != "initialiser":
            nodes, constants = [helper.make_node("Constant", [], ["w"], value=outside(location)), *nodes], []
        if place == "body":
            more = [outside(location)]
            more[0].name = "v"
            body = helper.make_graph(nodes, "body", [], [helper.make_empty_tensor_value_info("y")], more)
            nodes = [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)]
        file = tmp_path / "m.onnx"
        file.write_bytes(model(nodes, constants=constants).SerializeToString())
        return file

    return make


@pytest.mark.parametrize(("place", "count"), [("initialiser", 1), ("attribute", 1), ("body", 4)])
def test_every_tensor_is_inside_wherever_it_stands(saved, place, count):
    file = saved(place)
    before = onnx.load(file, load_external_data=False)
    assert [entries_of(one) for one in external_tensors(before)] == [(("location", "w.bin"),)] * count
    after = onnx.ModelProto.FromString(embedded(file, ImportOptions()))
    assert not list(external_tensors(after))
    assert after == onnx.load(file)  # which reads them by rules of its own
    found = after.graph.initializer[0] if place == "initialiser" else None
    assert found is None or numpy_helper.to_array(found).tolist() == WEIGHTS.tolist()


def test_a_model_with_all_inside_is_as_it_was(saved, tmp_path):
    file = saved("initialiser")
    whole = embedded(file, ImportOptions())
    assert embedded(whole, ImportOptions(allow_external=False)) == whole
    (tmp_path / "no.onnx").write_bytes(b"no model at all")
    assert embedded(tmp_path / "no.onnx", ImportOptions()) == b"no model at all"


@pytest.mark.parametrize(
    ("location", "allowed", "reason"),
    [("w.bin", False, "no-external"), ("../w.bin", True, "leads out of"), ("sub/w.bin", None, "allow-external")],
)
def test_what_may_not_be_read_is_not(saved, location, allowed, reason):
    with pytest.raises(TilewrightError, match=reason) as caught:
        embedded(saved("attribute", location), ImportOptions(allow_external=allowed))
    assert (caught.value.code, caught.value.exit_code) == ("TW1210", 3)
    assert caught.value.where == "m.onnx: tensor 'w'"


def test_many_tensors_of_one_file_are_inside_the_limits_together(saved):
    file = saved("body")  # 4 tensors of 16 bytes
    assert embedded(file, ImportOptions(limits=Limits(constant_bytes=64)))
    with pytest.raises(TilewrightError, match="hold 64 bytes or more, more than the limit of 63") as caught:
        embedded(file, ImportOptions(limits=Limits(constant_bytes=63)))
    assert caught.value.code == "TW1203"
    assert caught.value.fix[0].startswith("--limit constants=1M")
