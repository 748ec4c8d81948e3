"""A model with the files beside it inside: the same network, from one file, read by the same rules as always."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import TilewrightError
from tilewright.frontend.reading.embedded import embedded, entries_of, external_tensors
from tilewright.frontend.reading.import_options import ImportOptions, Limits

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
