"""What a file takes once it is parsed is known before: packed numbers, empty messages, empty names."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper

from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.frontend.reading.wire import wire_size

MODEL = onnx.ModelProto.DESCRIPTOR
MUCH = 3 << 20
GRAPH, NODE, ATTRIBUTE, TENSOR = 7, 1, 5, 5  # numbers of fields: model, graph, node, graph


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    low = bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
    return low + varint(value >> 7) if value > 0x7F else low


def counted(data: bytes) -> tuple[int, int]:
    size = wire_size(data, MODEL, 1 << 40, 1 << 60)
    return size.parts, size.number_bytes


def test_numbers_are_counted_as_they_will_be_held() -> None:
    floats = helper.make_tensor("t", TensorProto.FLOAT, [6], [0.5] * 6)
    small = TensorProto(data_type=TensorProto.INT8, dims=[5], int32_data=[1, -1, 300, 7, 0])
    wide = helper.make_tensor("t", TensorProto.INT64, [3], [1, 1 << 40, 2])
    for tensor, held in ((floats, 6 * 4), (small, 5 * 4), (wide, 3 * 8)):
        model = onnx.ModelProto(graph=onnx.GraphProto(initializer=[tensor]))
        assert counted(model.SerializeToString())[1] == held


def test_raw_bytes_and_texts_are_what_they_are() -> None:
    raw = TensorProto(name="w", raw_data=bytes(1000))
    model = onnx.ModelProto(producer_name="p" * 500, graph=onnx.GraphProto(initializer=[raw]))
    assert counted(model.SerializeToString()) == (1 + 4 + 4 + 2, 0)  # a text, two messages, a name and the bytes


def test_bytes_that_end_early_or_are_none() -> None:
    data = onnx.ModelProto(graph=onnx.GraphProto(name="g" * 40)).SerializeToString()
    for cut in range(len(data)):
        counted(data[:cut])
    assert counted(b"\xff" * 30)[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (field(TENSOR, field(5, b"\1" * (17 << 20))), "its numbers take 71,303,168 bytes"),
        (field(TENSOR, field(1, b"\1" * (9 << 20))), "its numbers take"),
        (field(NODE, field(ATTRIBUTE, field(8, b"\1" * MUCH))), "its numbers take"),
        (b"\x0a\x00" * MUCH, "3,200,0"),
        (field(NODE, b"\x2a\x00" * MUCH), "fields or more"),
        (field(NODE, b"\x0a\x00" * (4 << 20)), "fields or more"),
    ],
    ids=["packed bytes", "dimensions", "a list", "nodes", "attributes", "names"],
)
def test_a_small_file_that_stands_for_much(graph: bytes, reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason) as caught:
        load(field(GRAPH, graph))
    assert caught.value.code == "TW1203" and "--limit" in caught.value.fix[0]
