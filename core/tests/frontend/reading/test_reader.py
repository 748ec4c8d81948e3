"""What is no ONNX file, or asks for too much, is refused with a reason that says which."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import Exit
from tilewright.ir.graphs.model_formats import Limits


@pytest.fixture
def relu(model):
    return model([helper.make_node("Relu", ["x"], ["y"], "relu")])


def test_a_sound_model_is_read(loads, relu):
    imported = loads(relu)
    assert [node.name for node in imported.graph.nodes] == ["relu"]
    assert imported.graph.inputs == ("x",)
    assert imported.graph.outputs == ("y",)
    assert (imported.opset, imported.onnx_nodes, imported.diagnostics) == (17, 1, ())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"PK\x03\x04rest", "zip"),
        (b"\x1c\x00\x00\x00TFL3....", "TensorFlow Lite"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"<!DOCTYPE html>", "web page"),
        (b"\x89HDF\r\n", "HDF5"),
        (b"\x07\x07\x07\x07", "no protobuf field"),
        (b"\xff" * 40, "no protobuf field"),
        (b"\x08\x07", "no graph"),
    ],
)
def test_other_bytes(refuses, data, words):
    assert words in refuses(data, "TW1202")


def test_a_truncated_file_says_how_much_is_missing(refuses, relu):
    relu.opset_import.add(domain="pad" * 50, version=1)
    relu.producer_name = ""
    data = relu.SerializeToString()
    assert "bytes are missing (truncated?)" in refuses(data[:-20], "TW1202")


def test_damage_inside_the_graph(refuses, relu):
    data = bytearray(relu.SerializeToString())
    data[data.index(b"Relu") - 1] = 0xFF
    refuses(bytes(data), "TW1202")


def test_a_name_that_is_no_utf8(refuses, relu):
    data = relu.SerializeToString().replace(b"relu", b"\xff\xfe\xfd\xfc")
    refuses(data, "TW1202")


def test_a_missing_file_and_a_folder(refuses, tmp_path):
    assert "does not exist" in refuses(tmp_path / "none.onnx", "TW1201")
    assert "it is a folder" in refuses(tmp_path, "TW1201")
    (tmp_path / "net.onnx").write_bytes(b"")
    assert f"did you mean '{tmp_path / 'net.onnx'}'?" in refuses(tmp_path / "net.onx", "TW1201")
    assert "did you mean" not in refuses(tmp_path / "other.txt", "TW1201")
    assert "did you mean" not in refuses(tmp_path / "nowhere" / "net.onx", "TW1201")


def test_what_is_no_file_is_told_apart(refuses, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("circle").symlink_to("circle")
    Path("dangling").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
    told = {
        "pipe": "it is a pipe",
        "socket": "it is a socket",
        "/dev/null": "it is a device",
        "circle": "its links lead in a circle",
        "dangling": "its link leads to nothing",
        "-": "it does not come from standard input",
    }
    for name, words in told.items():
        text = refuses(Path(name), "TW1201")
        assert f"cannot read the model: {words}" in text
        assert ("write the model to a file" in text) == (name in ("pipe", "socket", "/dev/null", "-"))


def test_the_file_is_named(refuses, tmp_path):
    path = tmp_path / "kws.onnx"
    path.write_bytes(b"\xff" * 9)
    assert "at    kws.onnx" in refuses(path, "TW1202")


@pytest.mark.parametrize(
    "limits", [Limits(file_bytes=10), Limits(nodes=0), Limits(initializers=0), Limits(rank=1), Limits(name_length=2)]
)
def test_limits(refuses, model, limits):
    weights = numpy_helper.from_array(np.ones((1, 4), np.float32), "weights")
    text = refuses(
        model([helper.make_node("Add", ["x", "weights"], ["y"])], constants=[weights]), "TW1203", limits=limits
    )
    assert "limit" in text


def test_a_name_of_100_000_characters(refuses, model):
    assert "100,000 characters" in refuses(model([helper.make_node("Relu", ["x"], ["y"], "n" * 100_000)]), "TW1203")


def test_nesting_stops_at_the_limit(refuses, model):
    condition = numpy_helper.from_array(np.array(True), "c")
    inner = [helper.make_node("Relu", ["x"], ["y0"])]
    for depth in range(20):
        out = helper.make_tensor_value_info(f"y{depth}", TensorProto.FLOAT, None)
        body = helper.make_graph(inner, "body", [], [out])
        inner = [helper.make_node("If", ["c"], [f"y{depth + 1}"], then_branch=body, else_branch=body)]
        if depth > 8:
            break
    inner[0].output[0] = "y"
    refuses(model(inner, constants=[condition]), "TW1203", limits=Limits(nesting=4))


def test_no_outputs(refuses, relu):
    del relu.graph.output[:]
    assert "no outputs" in refuses(relu, "TW1217")


def test_sparse_weights(refuses, relu):
    relu.graph.sparse_initializer.add()
    refuses(relu, "TW1217")


def test_an_attribute_whose_value_is_in_the_wrong_field(refuses, model):
    node = helper.make_node("Flatten", ["x"], ["y"], axis=1)
    node.attribute[0].type = onnx.AttributeProto.INTS
    assert "field 'i'" in refuses(model([node]), "TW1213")


def test_an_attribute_without_type(refuses, model):
    node = helper.make_node("Flatten", ["x"], ["y"], axis=1)
    node.attribute[0].ClearField("type")
    refuses(model([node]), "TW1213")


def test_texts_of_the_file_do_not_reach_the_graph(loads, relu):
    relu.producer_name = 'x"\n#error INJECTED'
    relu.doc_string = "*/ system(0); /*"
    relu.graph.node[0].doc_string = "*/"
    relu.metadata_props.add(key="k", value="*/")
    assert "INJECTED" not in repr(loads(relu)) and "*/" not in repr(loads(relu))


def test_a_path_works_as_well_as_bytes(loads, relu, tmp_path: Path):
    path = tmp_path / "m.onnx"
    path.write_bytes(relu.SerializeToString())
    assert loads(path).graph == loads(relu).graph


def test_exit_code_of_a_missing_model_is_3(refuses, tmp_path):
    refuses(tmp_path / "none.onnx", "TW1201", Exit.MODEL)
