"""Tensors whose elements and description disagree, and attributes of other types than declared, are refused at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import Exit, TilewrightError
from tilewright.frontend.reading.external import ExternalFiles
from tilewright.frontend.reading.file_model import FileAttribute, FileNode, FileTensor
from tilewright.frontend.reading.values import to_array, typed_attributes
from tilewright.ir.graphs.model_formats import Limits


@pytest.fixture
def with_weights(model):
    def make(weights: TensorProto, op: str = "Add"):
        weights.name = "w"
        return model([helper.make_node(op, ["x", "w"], ["y"])], constants=[weights])

    return make


def raw(dims, data: bytes, data_type: int = TensorProto.FLOAT) -> TensorProto:
    return TensorProto(data_type=data_type, dims=dims, raw_data=data)


@pytest.mark.parametrize("data", [b"", b"\0" * 15, b"\0" * 17, b"\0" * 32])
def test_raw_bytes_must_fill_the_shape(refuses, with_weights, data):
    assert "needs 16" in refuses(with_weights(raw([1, 4], data)), "TW1211")


def test_typed_elements_must_fill_the_shape(refuses, with_weights):
    weights = TensorProto(data_type=TensorProto.FLOAT, dims=[1, 4], float_data=[1.0, 2.0])
    assert "holds 2 elements" in refuses(with_weights(weights), "TW1211")


@pytest.mark.parametrize(
    "dims", [[3, 2**31 - 1, 1, 0], [-1], [1, -4], [1 << 31, 1 << 31], [1 << 62, 8], [(1 << 63) - 1]]
)
def test_absurd_dimensions(refuses, with_weights, dims):
    assert "initialiser 'w'" in refuses(with_weights(raw(dims, b"\0" * 16)), "TW1206")


def test_a_limit_is_raised_only_as_far_as_c_counts(refuses, with_weights):
    """A next step that asks for more would not end in a program."""
    assert "--limit tensor=1024M" in refuses(with_weights(raw([1 << 28], b"")), "TW1206")
    assert "--limit" not in refuses(with_weights(raw([1 << 29], b"")), "TW1206")


def test_elements_in_two_places(refuses, with_weights):
    weights = raw([1], b"\0" * 4)
    weights.float_data.append(1.0)
    refuses(with_weights(weights), "TW1211")


def test_elements_in_the_wrong_field(refuses, with_weights):
    refuses(with_weights(TensorProto(data_type=TensorProto.FLOAT, dims=[1], int32_data=[1])), "TW1211")


def test_a_typed_element_that_does_not_fit(refuses, with_weights):
    refuses(with_weights(TensorProto(data_type=TensorProto.INT8, dims=[1], int32_data=[200])), "TW1211")


def test_a_bool_that_is_neither(refuses, with_weights):
    refuses(with_weights(raw([1], b"\2", TensorProto.BOOL)), "TW1211")


def test_segments(refuses, with_weights):
    weights = raw([1], b"\0" * 4)
    weights.segment.begin = 0
    refuses(with_weights(weights), "TW1211")


@pytest.mark.parametrize("form", ["typed", "raw"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "uint16", "int32", "int64", "uint64", "bool"])
def test_every_type_arrives(loads, model, dtype, form):
    array = np.array([0, 1, 1], dtype)
    tensor = numpy_helper.from_array(array, "w")
    if form == "typed":
        tensor = helper.make_tensor("w", tensor.data_type, [3], array.tolist())
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Transpose", ["z"], ["t"])]
    z = helper.make_tensor_value_info("z", tensor.data_type, [3])
    nodes[1] = helper.make_node("Concat", ["z", "w"], ["t"], axis=0)
    outputs = [helper.make_tensor_value_info(name, 0, None) for name in ("y", "t")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = loads(model(nodes, inputs=[x, z], outputs=outputs, constants=[tensor])).graph
    assert graph.constants["w"].dtype == array.dtype
    assert graph.constants["w"].tolist() == array.tolist()


def test_float16_weights_may_be_cast(loads, model):
    half = numpy_helper.from_array(np.array([1.5, 2.0, 0.1, 7.0], np.float16), "h")
    nodes = [helper.make_node("Cast", ["h"], ["w"], to=TensorProto.FLOAT), helper.make_node("Add", ["x", "w"], ["y"])]
    assert loads(model(nodes, constants=[half])).graph.constants["w"][0] == 1.5


@pytest.mark.parametrize("data_type", [TensorProto.FLOAT8E5M2, TensorProto.STRING])
def test_other_types_are_refused_where_they_are_used(refuses, with_weights, data_type):
    weights = TensorProto(data_type=data_type, dims=[1], raw_data=b"\0")
    if data_type == TensorProto.STRING:
        weights = TensorProto(data_type=data_type, dims=[1], string_data=[b"a"])
    assert "does not hold" in refuses(with_weights(weights), "TW2101", 4)


@pytest.mark.parametrize("data_type", [TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT8E4M3FN, 25, 26])
def test_small_types_in_the_field_of_int32_are_no_damage(refuses, with_weights, data_type):
    weights = TensorProto(data_type=data_type, dims=[2], int32_data=[1, 2])
    assert "does not hold" in refuses(with_weights(weights), "TW2101", 4)


def test_unused_weights_of_other_types_do_no_harm(loads, model):
    unused = TensorProto(name="u", data_type=TensorProto.FLOAT8E5M2, dims=[1], raw_data=b"\0")
    assert "u" not in loads(model([helper.make_node("Relu", ["x"], ["y"])], constants=[unused])).graph.constants


def test_nan_and_infinity_are_one_warning(loads, with_weights):
    array = np.array([1, np.nan, np.inf, 2], np.float32)
    (warning,) = loads(with_weights(numpy_helper.from_array(array))).diagnostics
    assert (warning.code, warning.severity) == ("TW1216", "warning")
    assert "'w'" in warning.message


def test_constants_together_are_limited(refuses, with_weights):
    weights = numpy_helper.from_array(np.zeros((1, 4), np.float32))
    refuses(with_weights(weights), "TW1203", limits=Limits(constant_bytes=15))


@pytest.mark.parametrize("form", ["typed", "raw", "external"])
@pytest.mark.parametrize(("bits", "least"), [(4, -8), (4, 0), (2, -2), (2, 0)])
@pytest.mark.parametrize("count", [1, 2, 15, 16])
def test_elements_of_4_and_2_bits_are_read_as_the_numbers_they_are(tmp_path, form, bits, least, count):
    numbers = [least + index % 2**bits for index in range(count)]
    whole = sum((number % 2**bits) << (bits * index) for index, number in enumerate(numbers))
    packed = whole.to_bytes(-(-count * bits // 8), "little")  # ONNX: the first element in the lowest bits
    data_type = {(4, -8): 22, (4, 0): 21, (2, -2): 26, (2, 0): 25}[bits, least]  # numbers of TensorProto
    (tmp_path / "w.bin").write_bytes(packed)
    stored = {
        "typed": {"values": np.frombuffer(packed, "uint8").astype("int32")},
        "raw": {"raw": packed},
        "external": {"external": (("location", "w.bin"),)},
    }[form]
    tensor = FileTensor(name="w", data_type=data_type, dims=(1, count), **stored)
    array = to_array(tensor, ExternalFiles(model=tmp_path / "m.onnx"), Limits(), "w")
    assert array.dtype == (np.int8 if least else np.uint8)
    assert array.tolist() == [numbers]


@pytest.mark.parametrize("stored", [{"raw": b"\0"}, {"raw": b"\0\0\0"}, {"values": np.array([0, 256], "int32")}])
def test_elements_of_4_bits_fill_the_shape_and_their_bytes(tmp_path, stored):
    tensor = FileTensor(name="w", data_type=TensorProto.INT4, dims=(3,), **stored)
    with pytest.raises(TilewrightError, match="TW1211"):
        to_array(tensor, ExternalFiles(model=tmp_path / "m.onnx", allowed=False), Limits(), "w")


KNOWN = {"axis": "INT", "pads": "INTS", "mode": "STRING", "names": "STRINGS", "value": "TENSOR", "alpha": "FLOAT"}


def node(*attributes: FileAttribute) -> FileNode:
    return FileNode(
        name="n", op_type="Pad", domain="", overload="", version=17, inputs=("x",), outputs=("y",),
        attributes=attributes,
    )  # fmt: skip


def attribute(name: str, value: object = None, kind: str = "", reference: str = "") -> FileAttribute:
    return FileAttribute(name=name, kind=kind or KNOWN[name], value=value, reference=reference)


def typed(*attributes: FileAttribute) -> Mapping[str, object]:
    return typed_attributes(node(*attributes), KNOWN, lambda tensor, where: np.full(2, len(tensor.dims)), "node 'n'")


def test_every_type() -> None:
    tensor = FileTensor(name="t", data_type=1, dims=(1, 2, 3))
    found = dict(typed(
        attribute("axis", 0), attribute("pads", (1, 2)), attribute("mode", "é".encode()),
        attribute("names", (b"a", b"")), attribute("value", tensor), attribute("alpha", 0.5),
    ))  # fmt: skip
    assert np.array_equal(found.pop("value"), [3, 3])
    assert found == {"axis": 0, "pads": (1, 2), "mode": "é", "names": ("a", ""), "alpha": 0.5}


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
