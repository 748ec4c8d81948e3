"""A model is told from another by its bytes, from a file or not, and by those of the files that hold its tensors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper

from tilewright.errors import TilewrightError
from tilewright.frontend.reading.model_digest import files_beside, model_digest


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    for file in (tmp_path / "nowhere.onnx", tmp_path):
        with pytest.raises(TilewrightError, match="TW1201"):
            model_digest(file)


def test_a_model_has_the_same_digest_from_a_file_and_from_bytes(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    file.write_bytes(b"net with a location")
    assert model_digest(file) == model_digest(b"net with a location") != model_digest(b"other")


def outside(location: str) -> TensorProto:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1, 4], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


@pytest.mark.parametrize("place", ["initialiser", "attribute", "body"])
def test_bytes_of_tensors_in_another_file_count(model: Any, tmp_path: Path, place: str) -> None:
    nodes, constants = [helper.make_node("Add", ["x", "w"], ["y"])], [outside("w.bin")]
    if place == "attribute":
        nodes, constants = [helper.make_node("Constant", [], ["w"], value=outside("w.bin")), *nodes], []
    elif place == "body":
        body = helper.make_graph(nodes, "body", [], [helper.make_empty_tensor_value_info("y")], constants)
        nodes, constants = [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)], []
    file, weights = tmp_path / "net.onnx", tmp_path / "w.bin"
    file.write_bytes(model(nodes, constants=constants).SerializeToString())
    digests = {model_digest(file)}  # without the file
    for data in (bytes(16), bytes(15) + b"\1"):
        weights.write_bytes(data)
        digests |= {model_digest(file), model_digest(file)}
    assert len(digests) == 3


def test_a_file_that_may_not_be_read_is_not(model: Any, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    file, secret = tmp_path / "below" / "net.onnx", tmp_path / "secret"
    node = helper.make_node("Add", ["x", "w"], ["y"])
    file.write_bytes(model([node], constants=[outside("../secret")]).SerializeToString())
    secret.write_bytes(b"1")
    before = model_digest(file)
    secret.write_bytes(b"2")
    assert model_digest(file) == before


def test_neither_a_pipe_nor_a_link_is_waited_for(model: Any, tmp_path: Path) -> None:
    file, node = tmp_path / "net.onnx", helper.make_node("Add", ["x", "w"], ["y"])
    file.write_bytes(model([node], constants=[outside("w.bin")]).SerializeToString())
    without = model_digest(file)
    os.mkfifo(tmp_path / "w.bin")
    assert model_digest(file) == without
    (tmp_path / "w.bin").unlink()
    (tmp_path / "w.bin").symlink_to(file)
    assert model_digest(file) == without


def test_files_beside_are_named_as_the_model_does(model: Any, tmp_path: Path) -> None:
    file, node = tmp_path / "net.onnx", helper.make_node("Add", ["x", "w"], ["y"])
    constants = [outside("w.bin"), outside("w.bin"), outside("sub/v.bin"), outside("nul\0.bin")]
    for number, constant in enumerate(constants):
        constant.name = f"w{number}"
    file.write_bytes(model([node], constants=constants).SerializeToString())
    assert files_beside(file) == (tmp_path / "w.bin", tmp_path / "sub" / "v.bin")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "location").write_bytes(b"of no model: location")
    assert [files_beside(tmp_path / name) for name in ("pipe", "location", "nowhere")] == [(), (), ()]
